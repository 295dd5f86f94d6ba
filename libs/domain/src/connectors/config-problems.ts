import type { JsonValue } from '#libs/crypto';

import { DomainError } from '../kernel/index.js';

/** The most that is sent back of a path: the names in it are the caller's own and may have any length. */
const PARAM_MAX_CHARACTERS = 256;

export interface ConfigProblem {
  /** For example `config.tools[1].readback.tool`. */
  readonly param: string;
  readonly message: string;
}

/** Collects what is wrong with a config, in the order of reading. One problem is named, the others are counted. */
export class ConfigProblems {
  private readonly found: ConfigProblem[] = [];
  private firstUnknown: ConfigProblem | undefined;

  /** @param config as it was sent: its order decides which problem is named */
  constructor(private readonly config: JsonValue) {}

  /** @param rule what the field breaks, in sentences. The first has no subject: `must be an object.` */
  report(param: string, rule: string): void {
    const named = namedAs(param);
    this.found.push({ param: named, message: `${named} ${rule}` });
  }

  /** As `report`, of a key that no rule knows. */
  reportUnknown(param: string, rule: string): void {
    this.report(param, rule);
    this.firstUnknown ??= this.found.at(-1);
  }

  get all(): readonly ConfigProblem[] {
    return this.found;
  }

  /**
   * Before all else it names a key that is not known, since what is missing or does not fit often follows from that.
   * Then it names what was sent, in the order sent; then what is missing.
   * @throws {DomainError} validation_failed, with the first problem and the count of the others (rule CON-9)
   */
  throwIfAny(): void {
    const [firstRead] = this.found;
    if (firstRead === undefined) return;
    const named = this.firstUnknown ?? this.firstSent() ?? firstRead;
    const others = this.found.length - 1;
    const count = others === 0 ? '' : ` The config has ${others} more problem${others === 1 ? '' : 's'}.`;
    throw new DomainError('validation_failed', { param: named.param, message: `${named.message}${count}` });
  }

  private firstSent(): ConfigProblem | undefined {
    const byParam = new Map<string, ConfigProblem>();
    for (const problem of this.found) if (!byParam.has(problem.param)) byParam.set(problem.param, problem);
    for (const param of pathsOf(this.config, 'config')) {
      const problem = byParam.get(param);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
}

const namedAs = (path: string): string => path.slice(0, PARAM_MAX_CHARACTERS);

/** The params of a value and all that it holds, in the order sent. */
function* pathsOf(value: JsonValue, path: string): Generator<string> {
  yield path;
  if (value === null || typeof value !== 'object') return;
  const members: readonly (readonly [string, JsonValue])[] = Array.isArray(value)
    ? value.map((item, index) => [`${path}[${index}]`, item])
    : Object.entries(value).map(([key, item]) => [`${path}.${key}`, item]);
  for (const [at, item] of members) yield* pathsOf(item, namedAs(at));
}
