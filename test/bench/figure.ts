import type { Profile } from './profile.js';

/** What `npm run bench` prints a line of (docs/performance.md says what each figure means). */
export interface Figure {
  readonly figure: string;
  readonly value: number;
  readonly unit: string;
  /** What the value is measured against, in the same unit; null for an absolute figure. */
  readonly limit: number | null;
  readonly ratio: number | null;
  readonly goal: number;
  readonly holds: boolean;
}

/** Whether a figure is to stay below its goal or to reach it. */
export type Aim = 'at most' | 'at least';

/** @param profile of which it was measured; null where no deployment takes part */
export const print = (figure: Figure, profile: Profile | null = null): void =>
  void process.stdout.write(`${JSON.stringify({ ...figure, profile })}\n`);

/** A figure whose goal is a ratio to what was measured in the same run. */
export const against = (
  figure: string,
  [value, limit]: readonly [value: number, limit: number],
  unit: string,
  aim: Aim,
  goal: number,
): Figure => {
  const ratio = round(value / limit);
  return { figure, value: round(value), unit, limit: round(limit), ratio, goal, holds: holds(ratio, aim, goal) };
};

/** A figure with a goal of its own unit. */
export const absolute = (figure: string, value: number, unit: string, aim: Aim, goal: number): Figure => ({
  figure,
  value: round(value),
  unit,
  limit: null,
  ratio: null,
  goal,
  holds: holds(value, aim, goal),
});

const holds = (measured: number, aim: Aim, goal: number): boolean =>
  aim === 'at most' ? measured <= goal : measured >= goal;

const round = (value: number): number => Number(value.toFixed(3));

/** Progress, beside the figures. */
export const say = (text: string): void => void process.stderr.write(`${text}\n`);
