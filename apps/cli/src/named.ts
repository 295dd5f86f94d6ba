import { notFound, usage } from './cli-error.js';

export interface Kind {
  readonly one: string;
  readonly several: string;
  /** Where those that are there are shown. */
  readonly toSee: string;
}

/**
 * Of all that an id or a name fits, the only one.
 * @param shown the id, or the name in quotes
 * @throws {CliError} not_found; usage: several of this name
 */
export const onlyOne = <Found>(
  found: readonly Found[],
  { one, several, toSee }: Kind,
  shown: string,
  idOf: (found: Found) => string,
): Found => {
  const [only] = found;
  if (only === undefined) throw notFound(`There is no ${one} ${shown}. ${toSee}`);
  if (found.length === 1) return only;
  const ids = found.map(idOf).join(', ');
  throw usage(`Several ${several} are named ${shown}: give the id of the one that is meant (${ids}).`);
};
