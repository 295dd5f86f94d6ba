import { type Figure, goalOf } from './documented-figures.js';
import type { Profile } from './profile.js';

const printed: Figure[] = [];

/** What has been measured until now of the profile that the goals are of, or of none. */
export const measured = (): readonly Figure[] => printed;

/** @param profile of which it was measured; null where no deployment takes part */
export const print = (figure: Figure, profile: Profile | null = null): void => {
  process.stdout.write(`${JSON.stringify({ ...figure, profile })}\n`);
  if (profile !== 'distributed') printed.push(figure);
};

/** A figure whose goal is a ratio to what was measured in the same run. */
export const against = (
  figure: string,
  [value, limit]: readonly [value: number, limit: number],
  unit: string,
): Figure => {
  const ratio = round(value / limit);
  return { figure, value: round(value), unit, limit: round(limit), ratio, ...judged(figure, ratio) };
};

/** A figure with a goal of its own unit. */
export const absolute = (figure: string, value: number, unit: string): Figure => ({
  figure,
  value: round(value),
  unit,
  limit: null,
  ratio: null,
  ...judged(figure, value),
});

const judged = (figure: string, value: number): { readonly goal: number; readonly holds: boolean } => {
  const { aim, goal } = goalOf(figure);
  return { goal, holds: aim === 'at most' ? value <= goal : value >= goal };
};

const round = (value: number): number => Number(value.toFixed(3));

/** Progress, beside the figures. */
export const say = (text: string): void => void process.stderr.write(`${text}\n`);
