import { type Digest, digestOf } from './digest.js';
import { canonicalBytes } from './jcs.js';
import { ARGS_PROFILE, type JsonObject, type JsonPath, type JsonValue, StrictJsonError } from './strict-json.js';

/** The arguments of a call in the form that is hashed: `digest` is the `args_digest` of document 2. */
export interface CanonicalArguments {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/**
 * Judges arguments that were parsed as part of a larger body against the rest of the arguments profile (document 2):
 * depth at most 32 with the object itself as 1, and at most 256 KiB in canonical form. Numbers, strings and members
 * were judged by the parser that produced the value; values that no strict parser has seen must not come here.
 * Throws `StrictJsonError` with reason `depth` or `too_large`; its offset is 0, because there are no bytes to point at.
 */
export const checkArguments = (value: JsonObject): CanonicalArguments => {
  const tooDeep = firstPathDeeperThan(value, ARGS_PROFILE.maxDepth);
  if (tooDeep !== null) throw new StrictJsonError('depth', 0, tooDeep);
  const bytes = canonicalBytes(value);
  if (bytes.byteLength > ARGS_PROFILE.maxBytes) throw new StrictJsonError('too_large', 0);
  return { bytes, digest: digestOf(bytes) };
};

/** Breadth first with an explicit queue, so that depth costs no stack. */
const firstPathDeeperThan = (root: JsonObject, maxDepth: number): JsonPath | null => {
  let level: { container: JsonObject | JsonValue[]; path: JsonPath }[] = [{ container: root, path: [] }];
  for (let depth = 1; level.length > 0; depth += 1) {
    const first = level[0];
    if (depth > maxDepth && first !== undefined) return first.path;
    level = level.flatMap(({ container, path }) =>
      Object.entries(container).flatMap(([member, child]) =>
        child !== null && typeof child === 'object' ? [{ container: child, path: [...path, member] }] : [],
      ),
    );
  }
  return null;
};
