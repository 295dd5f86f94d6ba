import { RE2JS, RE2JSException } from 're2js';

import type { JsonValue } from '#libs/crypto';

import { characterCount } from '../config-reader.js';
import type { RestArgument } from './rest-config.js';

/**
 * What matching may cost. A character costs at most one step for each instruction of the compiled pattern, and a step
 * at most about 80 ns, so a call's patterns take less than 100 ms together, whatever its arguments are (rule REST-8).
 */
const PATTERN_LIMITS = {
  /** Instructions of one pattern: bounds what compiling takes. */
  instructions: 1_024,
  /** Instructions times characters, over the arguments of a call. */
  steps: 1_048_576,
} as const;

/** Compiled once per argument of a folded config; goes with it. */
const compiled = new WeakMap<RestArgument, RE2JS>();

const compiledFor = (arg: RestArgument, pattern: string): RE2JS => {
  const program = compiled.get(arg) ?? RE2JS.compile(pattern);
  compiled.set(arg, program);
  return program;
};

/** How a text breaks the pattern of its argument, as the end of a sentence; null when it does not. Never holds the text. */
export const mismatch = (arg: RestArgument, text: string): string | null =>
  arg.pattern === undefined || compiledFor(arg, arg.pattern).test(text) ? null : `must match ${arg.pattern}`;

/** Counts the steps that the patterns of one call may take. Asked before a text is matched. */
export class MatchedTexts {
  private stepsLeft: number = PATTERN_LIMITS.steps;

  /** Null, or how this text exceeds what is left, as the end of a sentence. */
  add(arg: RestArgument, value: JsonValue): string | null {
    if (arg.pattern === undefined || typeof value !== 'string') return null;
    const size = compiledFor(arg, arg.pattern).programSize();
    const most = Math.floor(this.stepsLeft / size);
    const characters = characterCount(value);
    if (characters > most) return `must have at most ${most} characters to be matched with its pattern`;
    this.stepsLeft -= size * characters;
    return null;
  }
}

/** Why a pattern cannot be used, as the end of a sentence about it; null when it can. */
export const patternFault = (arg: RestArgument): string | null => {
  if (arg.pattern === undefined) return null;
  try {
    const size = compiledFor(arg, arg.pattern).programSize();
    if (size <= PATTERN_LIMITS.instructions) return null;
    return `compiles to ${size} instructions; at most ${PATTERN_LIMITS.instructions} are allowed.`;
  } catch (error) {
    if (error instanceof RE2JSException) return `is not RE2: ${error.message}.`;
    throw error;
  }
};
