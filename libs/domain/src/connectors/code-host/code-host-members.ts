import type { JsonValue } from '#libs/crypto';

import { isObject } from '../config-reader.js';

/** What stands at a place of an answer; null where nothing does. */
export const memberAt = (value: JsonValue | undefined, ...names: readonly string[]): JsonValue => {
  let found: JsonValue | undefined = value;
  for (const name of names) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found ?? null;
};
