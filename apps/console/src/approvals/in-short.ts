import type { Schemas } from '../kernel/client.ts';

const ARGUMENTS_MAX = 3;
const VALUE_MAX = 40;

type Amount = Pick<Schemas['ShownAmount'], 'argument' | 'display'>;

/**
 * The first arguments of a call on one line, to tell two calls apart in a list: `amount €489.00 (48900), id o-48120 and
 * 2 more`.
 * @param amounts the arguments that are amounts of money
 */
export const inShort = (args: Readonly<Record<string, unknown>>, amounts: readonly Amount[] = []): string => {
  const all = Object.entries(args);
  const shown = all.slice(0, ARGUMENTS_MAX).map(([name, value]) => {
    const money = amounts.find(({ argument }) => argument === name)?.display ?? null;
    return money === null ? `${name} ${cut(value)}` : `${name} ${money} (${cut(value)})`;
  });
  const more = all.length - shown.length;
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
};

const cut = (value: unknown): string => {
  const characters = [...(typeof value === 'string' ? value : JSON.stringify(value))];
  return characters.length <= VALUE_MAX ? characters.join('') : `${characters.slice(0, VALUE_MAX - 1).join('')}…`;
};
