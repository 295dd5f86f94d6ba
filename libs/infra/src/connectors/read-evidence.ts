import { canonicalize, digestOf, type JsonObject, type JsonValue } from '#libs/crypto';
import type { ComparedValues } from '#libs/domain/connectors';

import type { Redactor } from './redactor.js';

/** A longer value is shown by its digest: what it is part of is kept whole beside it, once. */
const COMPARED_MAX_CHARACTERS = 4_096;

/**
 * What a read that confirms a write is kept as: `{answer, differs, expected, observed}`, redacted.
 * @param answer in canonical form, and not read once more
 */
export const evidenceOf = (
  answer: string,
  { expected, observed, differs }: ComparedValues,
  redactor: Redactor,
): string => {
  const compared = { differs: [...differs], expected: shown(expected, redactor), observed: shown(observed, redactor) };
  return `{"answer":${answer},${canonicalize(compared).slice(1)}`;
};

const shown = (values: JsonObject, redactor: Redactor): JsonObject =>
  Object.fromEntries(Object.entries(values).map(([path, value]) => [path, bounded(redactor.json(value))]));

const bounded = (value: JsonValue): JsonValue => {
  const text = canonicalize(value);
  return text.length <= COMPARED_MAX_CHARACTERS ? value : { digest: digestOf(text), bytes: Buffer.byteLength(text) };
};
