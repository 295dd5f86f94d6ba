import type { JsonObject, JsonValue } from '#libs/crypto';
import { isPlainText, WITHOUT_CONTROL_CHARACTERS } from '../kernel/index.js';

import { type ConfigPlace, isKnownKey, nextAfterUnknownKey } from './config-keys.js';
import type { ConfigProblems } from './config-problems.js';

interface TextRule {
  readonly maxCharacters: number;
  readonly isRequired?: boolean;
}

interface IntegerRule {
  readonly min: number;
  readonly max: number;
}

/**
 * Reads the members of one object of a config and reports each that breaks a rule. A member that is absent, or was
 * reported, reads as undefined: readers go on and find the next problem.
 */
export class ConfigReader {
  private constructor(
    readonly path: string,
    readonly object: JsonObject,
    readonly problems: ConfigProblems,
  ) {}

  /** Null, and a problem, when the value is no object. */
  static of(value: JsonValue | undefined, path: string, problems: ConfigProblems): ConfigReader | null {
    if (isObject(value)) return new ConfigReader(path, value, problems);
    problems.report(path, 'must be an object.');
    return null;
  }

  at(key: string): string {
    return `${this.path}.${key}`;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.object, key);
  }

  raw(key: string): JsonValue | undefined {
    return this.has(key) ? this.object[key] : undefined;
  }

  /** @param rule without its subject, which is the path of the key: `must be a string.` */
  report(key: string, rule: string): undefined {
    this.problems.report(this.at(key), rule);
  }

  text(key: string, rule: TextRule): string | undefined {
    const value = this.raw(key);
    if (value === undefined && rule.isRequired !== true) return undefined;
    if (typeof value !== 'string') return this.report(key, 'must be a string.');
    if (characterCount(value) > rule.maxCharacters)
      return this.report(key, `must have at most ${rule.maxCharacters} characters.`);
    return value;
  }

  /** What people read, and nobody's terminal takes for an order. */
  description(maxCharacters: number): string | undefined {
    const value = this.text('description', { maxCharacters });
    if (value === undefined || isPlainText(value)) return value;
    return this.report('description', `must be a text ${WITHOUT_CONTROL_CHARACTERS}.`);
  }

  integer(key: string, { min, max }: IntegerRule): number | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    return this.report(key, `must be an integer from ${min} to ${max}.`);
  }

  flag(key: string): boolean | undefined {
    const value = this.raw(key);
    if (value === undefined || typeof value === 'boolean') return value;
    return this.report(key, 'must be true or false.');
  }

  choice<Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    const chosen = choices.find((choice) => choice === value);
    return chosen ?? this.report(key, `must be one of ${choices.join(', ')}.`);
  }

  /** The elements of a required array; undefined, and a problem, when it is none or its length is out of range. */
  list(key: string, { min, max }: IntegerRule): readonly JsonValue[] | undefined {
    const value = this.raw(key);
    if (Array.isArray(value) && value.length >= min && value.length <= max) return value;
    return this.report(key, `must be a list of ${min} to ${max} entries.`);
  }

  require(key: string): void {
    if (!this.has(key)) this.report(key, 'is required.');
  }

  refuseUnknown(place: ConfigPlace): void {
    for (const key of Object.keys(this.object)) {
      if (isKnownKey(key, place)) continue;
      this.problems.reportUnknown(this.at(key), `is not a known key. ${nextAfterUnknownKey(key, place)}`);
    }
  }
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Unicode characters, not UTF-16 units. */
export const characterCount = (text: string): number => Array.from(text).length;
