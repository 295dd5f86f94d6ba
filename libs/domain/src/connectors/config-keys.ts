import { closestName } from '../kernel/index.js';

/** One kind of object in a config, and the keys it has. Each type names its own. */
export interface ConfigPlace {
  readonly path: string;
  readonly keys: readonly string[];
  /** The place that holds this one: a key that is not known here may be a key of that place. */
  readonly within?: ConfigPlace;
  /** Keys that mean something else than a config of the type can say, each with what to do instead, as a sentence. */
  readonly misplaced?: Readonly<Record<string, string>>;
}

export const isKnownKey = (key: string, place: ConfigPlace): boolean => place.keys.includes(key);

/** The next step, as a sentence, for a key that a place does not have. */
export const nextAfterUnknownKey = (key: string, place: ConfigPlace): string => {
  const { misplaced = {} } = place;
  const instead = Object.hasOwn(misplaced, key) ? misplaced[key] : undefined;
  if (instead !== undefined) return instead;
  const meant = closestName(key, place.keys);
  if (meant !== null) return `Did you mean ${meant}?`;
  for (let outer = place.within; outer !== undefined; outer = outer.within) {
    const elsewhere = closestName(key, outer.keys);
    if (elsewhere !== null) return `Did you mean ${elsewhere}, a key of ${outer.path}?`;
  }
  return `Known are ${place.keys.join(', ')}.`;
};
