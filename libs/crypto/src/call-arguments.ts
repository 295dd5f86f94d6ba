import { type Digest, digestOf } from './digest.js';
import { canonicalBytes } from './jcs.js';
import { ARGS_PROFILE, type JsonObject, type JsonPath, type JsonValue, StrictJsonError } from './strict-json.js';

/** The arguments of a call in the form that is hashed: `digest` is the `args_digest` of a signed intent. */
export interface CanonicalArguments {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/**
 * Judges arguments that were parsed as part of a larger body against the rest of the arguments profile (rule FORM-7):
 * depth at most 32 with the object itself as 1, and at most 256 KiB in canonical form. Numbers, strings and members
 * were judged by the parser that produced the value; values that no strict parser has seen must not come here. Throws
 * `StrictJsonError` with reason `depth` or `too_large`; its offset is 0, because there are no bytes to point at.
 */
export const checkArguments = (value: JsonObject): CanonicalArguments => {
  const tooDeep = firstPathDeeperThan(value, ARGS_PROFILE.maxDepth);
  if (tooDeep !== null) throw new StrictJsonError('depth', 0, tooDeep);
  if (!mayFit(value, ARGS_PROFILE.maxBytes)) throw new StrictJsonError('too_large', 0);
  const bytes = canonicalBytes(value);
  if (bytes.byteLength > ARGS_PROFILE.maxBytes) throw new StrictJsonError('too_large', 0);
  return { bytes, digest: digestOf(bytes) };
};

/** False when the canonical form is certainly larger: told without writing it, which takes far longer than looking. */
const mayFit = (value: JsonObject, maxBytes: number): boolean => bytesLeft(value, maxBytes) >= 0;

/** What `left` has left after the least that a value can take in canonical form; negative ends the walk. */
const bytesLeft = (value: JsonValue | undefined, left: number): number => {
  // A UTF-16 unit is at least one byte, every other scalar too.
  if (typeof value === 'string') return left - value.length - QUOTES;
  if (value === null || typeof value !== 'object') return left - 1;
  // The first item has no comma before it.
  let rest = left - BRACKETS + SEPARATOR;
  if (Array.isArray(value)) {
    for (const item of value) {
      rest = bytesLeft(item, rest - SEPARATOR);
      if (rest < 0) break;
    }
    return rest;
  }
  for (const name in value) {
    rest = bytesLeft(value[name], rest - SEPARATOR - name.length - QUOTES - COLON);
    if (rest < 0) break;
  }
  return rest;
};

const [QUOTES, BRACKETS, SEPARATOR, COLON] = [2, 2, 1, 1];

const firstPathDeeperThan = (root: JsonObject, maxDepth: number): JsonPath | null => {
  const inwards: string[] = [];
  return isDeeperThan(root, maxDepth, inwards) ? inwards.reverse() : null;
};

/**
 * The recursion ends at the depth that is refused, so that no input costs more stack.
 * @param inwards gets the members that lead to the first container that is too deep, the innermost first
 */
const isDeeperThan = (value: JsonValue | undefined, maxDepth: number, inwards: string[]): boolean => {
  if (value === null || typeof value !== 'object') return false;
  if (maxDepth === 0) return true;
  // Loops and no closures: most of the containers that arguments can hold are small and very many.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      if (!isDeeperThan(value[index], maxDepth - 1, inwards)) continue;
      inwards.push(String(index));
      return true;
    }
    return false;
  }
  for (const name in value) {
    if (!isDeeperThan(value[name], maxDepth - 1, inwards)) continue;
    inwards.push(name);
    return true;
  }
  return false;
};
