import { type CelInput, type CelList, celList, type CelMap, celMap, isCelError, plan, parse } from '@bufbuild/cel';
import type { JsonObject, JsonValue } from '#libs/crypto';

import type { PolicyInput } from '../policy-input.js';
import { ENVIRONMENT } from './environment.js';

/** The variables of a condition, by name. */
export type Bindings = Readonly<Record<string, CelInput>>;

/**
 * The input as CEL values. JSON numbers without a fraction are ints, all others doubles; a member that is null is there.
 * An object's members are converted when they are read: what no condition looks at costs nothing, however large it is.
 */
export const bindingsOf = (input: PolicyInput): Bindings => {
  const bindings: Record<string, CelInput> = Object.create(null) as Record<string, CelInput>;
  return Object.assign(bindings, {
    tool: input.tool,
    args: objectOf(input.args),
    agent: objectOf({ id: input.agent.id, name: input.agent.name, labels: { ...input.agent.labels } }),
    user: objectOf({ ref: input.user.ref }),
    session: objectOf({ ref: input.session.ref }),
    intent: objectOf({ signed: input.intent.signed }),
    mode: input.mode,
    side_effect: input.side_effect,
    now: timestampOf(input.now),
    // Each by itself: an object that is spread together gets a hidden class of its own (docs/performance.md).
    request: requestOf(input.request),
  });
};

const requestOf = ({ http, mcp, sql, payments }: PolicyInput['request']): CelMap => {
  if (payments !== undefined) return objectOf({ ...(http && { http: { ...http } }), payments: { ...payments } });
  if (http !== undefined) return objectOf({ http: { ...http } });
  if (mcp !== undefined) return objectOf({ mcp: { ...mcp } });
  if (sql === undefined) return objectOf({});
  return objectOf({ sql: { ...sql, tables: [...sql.tables], functions: [...sql.functions] } });
};

/** The variables of a postcondition. */
export const postconditionBindingsOf = (input: {
  readonly args: JsonObject;
  readonly observation: JsonObject;
}): Bindings => ({
  args: objectOf(input.args),
  observation: objectOf(input.observation),
});

/** The variables of a postcondition of a change log. */
export const changeBindingsOf = (input: {
  readonly args: JsonObject;
  readonly rows: readonly object[] | null;
  readonly row_count: number;
}): Bindings => ({
  args: objectOf(input.args),
  ...(input.rows === null ? {} : { rows: listOf(input.rows as readonly JsonObject[]) }),
  row_count: BigInt(input.row_count),
});

const valueOf = (value: JsonValue): CelInput => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object') return value;
  return Array.isArray(value) ? listOf(value) : objectOf(value);
};

const listOf = (items: readonly JsonValue[]): CelList => celList(items.map(valueOf));

// One function for all: an own property of each map would cost more than the rest of the conversion.
const objectOf = (object: JsonObject): CelMap => Object.assign(celMap(new Members(object)), { has: hasMember });

/** The members of an object, each converted once, when it is first read. */
class Members implements ReadonlyMap<string, CelInput> {
  readonly #converted = new Map<string, CelInput>();

  constructor(private readonly object: JsonObject) {}

  get size(): number {
    return Object.keys(this.object).length;
  }

  get(name: string): CelInput | undefined {
    const known = this.#converted.get(name);
    if (known !== undefined || !this.has(name)) return known;
    const value = valueOf(this.object[name] ?? null);
    this.#converted.set(name, value);
    return value;
  }

  has(name: string): boolean {
    // Keys of other types reach this too: an index of a condition may be any value.
    return typeof name === 'string' && Object.hasOwn(this.object, name);
  }

  forEach(callback: (value: CelInput, name: string, members: ReadonlyMap<string, CelInput>) => void): void {
    for (const [name, value] of this.entries()) callback(value, name, this);
  }

  entries(): MapIterator<[string, CelInput]> {
    return this.#all().entries();
  }

  keys(): MapIterator<string> {
    return this.#all().keys();
  }

  values(): MapIterator<CelInput> {
    return this.#all().values();
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }

  #all(): ReadonlyMap<string, CelInput> {
    return new Map(Object.keys(this.object).map((name) => [name, this.get(name) ?? null]));
  }
}

/** The package's own `has` takes a member that is null for one that is absent. */
function hasMember(this: CelMap, key: Parameters<CelMap['has']>[0]): boolean {
  return this.get(key) !== undefined;
}

const readTimestamp = plan(ENVIRONMENT, parse('timestamp(text)'));

const timestampOf = (text: string): CelInput => {
  const timestamp = readTimestamp({ text });
  if (isCelError(timestamp)) throw new RangeError(`not an RFC 3339 time: ${text}`);
  return timestamp;
};
