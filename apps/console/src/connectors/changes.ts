import type { Json } from './draft.ts';

const MAX_SHOWN = 8;

const isMembers = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/**
 * The places in which two configs differ, by the API's names: `config.tools[0].path`. After the first few, `…` stands
 * for the others.
 */
export const changedPlaces = (before: Json, after: Json): readonly string[] => {
  const found = [...places(before, after, 'config')];
  return found.length > MAX_SHOWN ? [...found.slice(0, MAX_SHOWN), '…'] : found;
};

function* places(before: Json | undefined, after: Json | undefined, at: string): Generator<string> {
  if (isMembers(before) && isMembers(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const name of names) yield* places(before[name], after[name], `${at}.${name}`);
  } else if (isList(before) && isList(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index += 1)
      yield* places(before[index], after[index], `${at}[${index}]`);
  } else if (JSON.stringify(before) !== JSON.stringify(after)) yield at;
}
