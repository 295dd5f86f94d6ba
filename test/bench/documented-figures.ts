import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '#libs/infra/runtime';
import { opensslPerSecond } from './openssl.js';

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

/** A figure as docs/performance.json has it: its goal, and how it was last seen. */
interface DocumentedFigure extends Omit<Figure, 'value'> {
  readonly aim: 'at most' | 'at least';
  /** Null where only the ratio was kept. */
  readonly value: number | null;
  /** What the goal is counted in, or of what it is a part. */
  readonly of: string;
  readonly when: string;
  readonly machine: string;
  readonly note?: string;
}

const FILE = join(packageRoot(), 'docs', 'performance.json');
const TABLES = join(packageRoot(), 'scripts', 'docs-tables.mjs');
/** From here on a machine is called quick: that many signatures verified a second on one thread. */
const QUICK_PER_SECOND = 12_500;

const documented = (): readonly DocumentedFigure[] =>
  JSON.parse(readFileSync(FILE, 'utf8')) as readonly DocumentedFigure[];

const goals = new Map(documented().map(({ figure, aim, goal }) => [figure, { aim, goal }]));

/** The goal of a figure, which docs/performance.json owns. */
export const goalOf = (figure: string): Pick<DocumentedFigure, 'aim' | 'goal'> => {
  const known = goals.get(figure);
  if (known === undefined) throw new Error(`${figure} has no entry in docs/performance.json: add one with its goal`);
  return known;
};

/** The class of this machine, without its name. Asked before anything is measured: the bench itself is a load. */
export const machineClass = (): string => {
  const [load = 0] = loadavg();
  const speed = opensslPerSecond() >= QUICK_PER_SECOND ? 'quick' : 'slow';
  return `${availableParallelism()} cores, ${speed}, ${load < 1 ? 'quiet' : 'busy'}`;
};

/** Writes what was measured into docs/performance.json, and makes the table of docs/performance.md of it. */
export const record = (measured: readonly Figure[], machine: string): void => {
  const latest = new Map(measured.map((figure) => [figure.figure, figure]));
  const when = new Date().toISOString().slice(0, 10);
  const figures = documented().map((before) => {
    const now = latest.get(before.figure);
    if (now === undefined) return before;
    // A note is of the measurement that it was written with.
    const { figure, aim, of } = before;
    const { goal, value, unit, limit, ratio, holds } = now;
    return { figure, aim, goal, of, value, unit, limit, ratio, holds, when, machine };
  });
  writeFileSync(FILE, `${JSON.stringify(figures, null, 2)}\n`);
  execFileSync(process.execPath, [TABLES], { stdio: 'inherit' });
};
