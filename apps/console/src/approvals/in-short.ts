const ARGUMENTS_MAX = 3;
const VALUE_MAX = 40;

/** `amount 48900, id o-48120 and 2 more`: the first arguments of a call, enough to tell two calls apart in a list. */
export const inShort = (args: Readonly<Record<string, unknown>>): string => {
  const all = Object.entries(args);
  const shown = all.slice(0, ARGUMENTS_MAX).map(([name, value]) => `${name} ${cut(value)}`);
  const more = all.length - shown.length;
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
};

const cut = (value: unknown): string => {
  const characters = [...(typeof value === 'string' ? value : JSON.stringify(value))];
  return characters.length <= VALUE_MAX ? characters.join('') : `${characters.slice(0, VALUE_MAX - 1).join('')}…`;
};
