import { DomainError } from '../kernel/index.js';

/** Of a path that is sent back: the names in it are the caller's own, however long. */
const PARAM_MAX_CHARACTERS = 256;

export interface ConfigProblem {
  /** For example `config.tools[1].readback.tool`. */
  readonly param: string;
  readonly message: string;
}

/** Collects what is wrong with a config, in the order of reading: the first is named, the others are counted. */
export class ConfigProblems {
  private readonly found: ConfigProblem[] = [];

  /** @param rule what the field breaks, as sentences whose first lacks its subject: `must be an object.` */
  report(param: string, rule: string): void {
    const named = param.slice(0, PARAM_MAX_CHARACTERS);
    this.found.push({ param: named, message: `${named} ${rule}` });
  }

  get all(): readonly ConfigProblem[] {
    return this.found;
  }

  /** @throws {DomainError} validation_failed (document 3, Read-back: the first problem is named with the count of others) */
  throwIfAny(): void {
    const [first] = this.found;
    if (first === undefined) return;
    const others = this.found.length - 1;
    const count = others === 0 ? '' : ` The config has ${others} more problem${others === 1 ? '' : 's'}.`;
    throw new DomainError('validation_failed', { param: first.param, message: `${first.message}${count}` });
  }
}
