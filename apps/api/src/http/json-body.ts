import {
  bodyProfile,
  type JsonObject,
  type JsonProfile,
  type JsonValue,
  StrictJsonError,
  strictJsonInPieces,
  type StrictJsonReason,
} from '#libs/crypto';
import { DomainError, Turns } from '#libs/domain/kernel';

/** The arguments of an action may be 32 deep (rule FORM-7) and stand in the body, which is one level more. */
const MAX_DEPTH = 33;

/** The most that is sent back of a name: it is the caller's own and may have any length. */
const MAX_FIELD_CHARACTERS = 256;

const EXPLANATIONS: Readonly<Record<StrictJsonReason, string>> = {
  too_large: 'The body is too large.',
  utf8: 'The body is not valid UTF-8.',
  syntax: 'The body is not valid JSON.',
  duplicate_key: 'An object in the body has the same member twice.',
  depth: 'A value in the body is nested too deeply.',
  lone_surrogate: 'A text in the body holds half of a surrogate pair.',
  big_int: 'An integer in the body is larger than 2^53-1 in magnitude. Send large integers as strings.',
  number_range: 'A number in the body does not fit a double.',
  fraction: 'A number in the body must be an integer.',
};

/**
 * Reasons for which bytes are no JSON at all; the others are JSON that no field accepts (rule API-13).
 */
const NOT_JSON: ReadonlySet<StrictJsonReason> = new Set(['utf8', 'syntax', 'duplicate_key']);

/** The refusal of a body for what stands in its member `args`, and what the strict parser said. */
export type ArgumentsFault = DomainError & { readonly cause: StrictJsonError };

const turns = new Turns();

/**
 * The object that a body holds. Objects in it have no prototype: `__proto__` is a member like any other. A body of very
 * many values is read in turns, so that whoever sends it holds up nobody else.
 * @throws {DomainError} invalid_json; validation_failed with the top-level member as `param`; request_too_large
 */
export const parseJsonBody = async (bytes: Uint8Array, maxBytes: number): Promise<JsonObject> => {
  // Space alone is what a form or a template leaves of a body that it did not fill in.
  if (bytes.byteLength <= maxBytes && isBlank(bytes)) {
    throw new DomainError('invalid_json', {
      message: 'The body is empty. Send a JSON object with the fields of this endpoint.',
    });
  }
  const value = await parse(bytes, maxBytes);
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value;
  throw new DomainError('validation_failed', {
    message: 'The body must be a JSON object. Send one with the fields of this endpoint.',
  });
};

/** RFC 8259, section 2: what may stand around a value and means nothing. */
const JSON_SPACE: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20]);

const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => JSON_SPACE.has(byte));

const parse = async (bytes: Uint8Array, maxBytes: number): Promise<JsonValue> => {
  try {
    return await strictValue(bytes, bodyProfile({ maxBytes, maxDepth: MAX_DEPTH }));
  } catch (error) {
    if (error instanceof StrictJsonError) throw refusalOf(error);
    throw error;
  }
};

/**
 * The value that bytes hold, read in turns.
 * @throws {StrictJsonError}
 */
export const strictValue = async (bytes: Uint8Array, profile: JsonProfile): Promise<JsonValue> => {
  const pieces = strictJsonInPieces(bytes, profile);
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
    await turns.next();
  }
};

/** What is wrong with a body, as a sentence with the place, and whether it is JSON all the same. */
export const explained = ({
  reason,
  offset,
}: StrictJsonError): { readonly isJson: boolean; readonly sentence: string } => ({
  isJson: !NOT_JSON.has(reason),
  sentence: `${EXPLANATIONS[reason]} See byte ${offset}.`,
});

const refusalOf = (cause: StrictJsonError): DomainError => {
  const { reason, offset, path } = cause;
  if (reason === 'too_large') return new DomainError('request_too_large');
  if (NOT_JSON.has(reason)) {
    return new DomainError('invalid_json', { message: `${EXPLANATIONS[reason]} See byte ${offset}.`, cause });
  }
  const [field] = path;
  const param = typeof field === 'string' ? field.slice(0, MAX_FIELD_CHARACTERS) : null;
  const place = param === null ? 'the body' : `the field ${param}`;
  const message = `${EXPLANATIONS[reason].replace('the body', () => place)} See byte ${offset} of the body.`;
  return new DomainError('validation_failed', { message, param, cause });
};
