import { type CelInput, type CelList, celList, type CelMap, celMap, isCelError, plan, parse } from '@bufbuild/cel';
import type { JsonObject, JsonValue } from '#libs/crypto';

import type { PolicyInput } from '../policy-input.js';
import { ENVIRONMENT } from './environment.js';

/** The variables of a condition, by name. */
export type Bindings = Readonly<Record<string, CelInput>>;

/**
 * The input as CEL values. JSON numbers without a fraction are ints, all others doubles; a member that is null is there.
 * Linear in the input and done once for all rules of a decision.
 */
export const bindingsOf = (input: PolicyInput): Bindings => {
  const { http } = input.request;
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
    request: objectOf(http === undefined ? {} : { http: { ...http } }),
  });
};

const valueOf = (value: JsonValue): CelInput => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object') return value;
  return Array.isArray(value) ? listOf(value) : objectOf(value);
};

const listOf = (items: readonly JsonValue[]): CelList => celList(items.map(valueOf));

const objectOf = (object: JsonObject): CelMap => {
  const members = new Map<string, CelInput>();
  for (const name of Object.keys(object)) members.set(name, valueOf(object[name] ?? null));
  // One function for all: an own property of each map would cost more than the rest of the conversion.
  return Object.assign(celMap(members), { has: hasMember });
};

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
