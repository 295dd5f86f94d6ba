import type { JsonValue } from '#libs/crypto';
import { REDACTED } from '#libs/domain/connectors';

const ANSWER_CHARACTERS = 1_000_000;
/** All arguments of a call together (rule FORM-7). */
const ARGUMENTS_CHARACTERS = 262_144;

/** Secrets and an answer that a search with a worse bound would need minutes for. */
export interface RedactionBomb {
  readonly name: string;
  readonly sensitive: readonly JsonValue[];
  readonly answer: JsonValue;
  readonly redacted: JsonValue;
}

const rows = (count: number, text: string): JsonValue[] =>
  Array.from({ length: count }, (_, index) => ({ id: index, text }));
const filled = (text: string): string =>
  text.repeat(Math.ceil(ANSWER_CHARACTERS / text.length)).slice(0, ANSWER_CHARACTERS);
const half = 'a'.repeat(20_000);

/** An answer that only looks as if the secret were in it. */
const near = (name: string, sensitive: readonly JsonValue[], answer: JsonValue): RedactionBomb => ({
  name,
  sensitive,
  answer,
  redacted: answer,
});
/** An answer that is nothing but secrets. */
const full = (name: string, sensitive: readonly JsonValue[], answer: JsonValue): RedactionBomb => ({
  name,
  sensitive,
  answer,
  redacted: REDACTED,
});

export const REDACTION_BOMBS: readonly RedactionBomb[] = [
  near('a secret that almost matches everywhere', [`${half}b${half}`], filled('a')),
  near(
    'thousands of short secrets',
    [Array.from({ length: 4_000 }, (_, index) => `s${index}x`)],
    rows(1_000, filled('s1234y').slice(0, 900)),
  ),
  near(
    'thousands of numbers',
    [Array.from({ length: 4_000 }, (_, index) => 100_000 + index)],
    Array.from({ length: 100_000 }, (_, index) => index),
  ),
  {
    name: 'more secrets than are searched for',
    sensitive: [Array.from({ length: 30_000 }, (_, index) => `s${index}x`)],
    answer: rows(1_000, filled('s1234y').slice(0, 900)),
    redacted: Array.from({ length: 1_000 }, () => ({ [REDACTED]: REDACTED })),
  },
  full(
    'secrets that overlap everywhere',
    [Array.from({ length: 700 }, (_, index) => 'a'.repeat(4 + index))],
    filled('a'),
  ),
  full('as much secret as a call can hold', ['ab'.repeat(ARGUMENTS_CHARACTERS / 2)], filled('ab')),
  near(
    'many branches',
    [Array.from({ length: 4_000 }, (_, index) => `aaaa${String.fromCharCode(0x4e00 + index)}`)],
    filled('aaaa\u4dff'),
  ),
  near('JSON escapes', ['aaaab'], filled('\\u0061')),
  near('short JSON escapes', ['aaaab'], filled('\\\\')),
  near('URL escapes', ['aaaab'], filled('%61')),
  near('URL escapes that are no UTF-8', ['aaaab'], filled('%ff%c3')),
  near('pluses', ['aaaab'], filled('+')),
  near('HTML escapes', ['aaaab'], filled('&#97;')),
  near('ampersands', ['aaaab'], filled('&')),
  near('lines', ['aaaab'], filled('a\r\n')),
  near('bytes with something between them', ['aaaab'], filled('61 ')),
  near('numbers without an end', ['aaaab'], `&#${filled('0')}`),
  near('every notation at once', ['aaaab'], filled('\\u0061%61+&#97;')),
];
