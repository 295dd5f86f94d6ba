import { RE2JS, RE2JSException } from 're2js';

import type { JsonValue } from '#libs/crypto';

import { characterCount } from './config-reader.js';
import { REST_LIMITS, type RestArgument } from './rest-config.js';

/**
 * What matching may cost. A character costs at most one step for each instruction of the compiled pattern, and a step at
 * most about 80 ns, so a call's patterns take less than 100 ms together, whatever its arguments are.
 */
export const PATTERN_LIMITS = {
  /** What a call may have matched, in all its arguments together. */
  matchedCharacters: 65_536,
  /** Instructions of one pattern: bounds what compiling takes. */
  instructions: 1_024,
  /** Instructions times characters, over the arguments of a tool. */
  steps: 1_048_576,
} as const;

/** Document 3, Request rules: what a value may have where it travels. */
const PATH_VALUE_CHARACTERS = 256;

const mostCharacters = (arg: RestArgument): number => {
  const place =
    arg.in === 'path' ? PATH_VALUE_CHARACTERS : arg.in === 'header' ? REST_LIMITS.headerValueBytes : Infinity;
  return Math.min(arg.max_length ?? Infinity, place, PATTERN_LIMITS.matchedCharacters);
};

/** Compiled once per argument of a folded config; goes with it. */
const compiled = new WeakMap<RestArgument, RE2JS>();

const compiledFor = (arg: RestArgument, pattern: string): RE2JS => {
  const program = compiled.get(arg) ?? RE2JS.compile(pattern);
  compiled.set(arg, program);
  return program;
};

/** How a text breaks the pattern of its argument, as the end of a sentence; null when it does not. Never holds the text. */
export const mismatch = (arg: RestArgument, text: string): string | null => {
  if (arg.pattern === undefined) return null;
  const most = mostCharacters(arg);
  // Stored configs may be older than the limits: the text is bounded here too.
  if (characterCount(text) > most) return `must have at most ${most} characters to be matched`;
  return compiledFor(arg, arg.pattern).test(text) ? null : `must match ${arg.pattern}`;
};

/** Whether the texts of a call that have a pattern are too long together. */
export class MatchedTexts {
  private characters = 0;

  /** Null, or how this text exceeds what a call may have matched, as the end of a sentence. */
  add(arg: RestArgument, value: JsonValue): string | null {
    if (arg.pattern === undefined || typeof value !== 'string') return null;
    const most = PATTERN_LIMITS.matchedCharacters - this.characters;
    this.characters += characterCount(value);
    if (this.characters <= PATTERN_LIMITS.matchedCharacters) return null;
    return `must have at most ${most} characters: arguments with a pattern have at most ${PATTERN_LIMITS.matchedCharacters} together`;
  }
}

/** Why a pattern cannot be used, as a sentence; null when it can. */
export const patternFault = (arg: RestArgument): string | null => {
  if (arg.pattern === undefined) return null;
  try {
    const size = compiledFor(arg, arg.pattern).programSize();
    if (size <= PATTERN_LIMITS.instructions) return null;
    return `The pattern compiles to ${size} instructions; at most ${PATTERN_LIMITS.instructions} are allowed.`;
  } catch (error) {
    if (error instanceof RE2JSException) return `The pattern is not RE2: ${error.message}.`;
    throw error;
  }
};

/** The argument whose pattern takes the most, and why, when the patterns of a tool may take too long; null otherwise. */
export const costFault = (
  args: Readonly<Record<string, RestArgument>>,
): { readonly name: string; readonly message: string } | null => {
  const costs = Object.entries(args)
    .filter(([, arg]) => arg.pattern !== undefined)
    .map(([name, arg]) => ({
      name,
      size: compiledFor(arg, arg.pattern ?? '').programSize(),
      characters: mostCharacters(arg),
    }))
    .sort((one, other) => other.size - one.size);
  // The dearest patterns get all characters that a call may have matched: no call costs more.
  let left: number = PATTERN_LIMITS.matchedCharacters;
  let steps = 0;
  for (const { size, characters } of costs) {
    const matched = Math.min(left, characters);
    left -= matched;
    steps += size * matched;
  }
  if (steps <= PATTERN_LIMITS.steps) return null;
  const [first, ...others] = costs;
  if (first === undefined) return null;
  const dearest = others.reduce((most, cost) => (stepsOf(cost) > stepsOf(most) ? cost : most), first);
  const message =
    `Matching the arguments of this tool may take ${steps} steps; at most ${PATTERN_LIMITS.steps} are allowed. ` +
    `This pattern takes the most: ${dearest.size} instructions on each of up to ${dearest.characters} characters. ` +
    'Set a smaller max_length or write a simpler pattern.';
  return { name: dearest.name, message };
};

const stepsOf = ({ size, characters }: { readonly size: number; readonly characters: number }): number =>
  size * characters;
