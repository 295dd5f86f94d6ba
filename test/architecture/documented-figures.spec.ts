import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

const text = (...path: readonly string[]): string => readFileSync(join(ROOT, ...path), 'utf8');

const FIGURES = JSON.parse(text('docs', 'performance.json')) as readonly Readonly<Record<string, unknown>>[];

const documented = FIGURES.map(({ figure }) => figure as string);

/** Every name that a file of the bench gives a figure. */
const printed = readdirSync(join(ROOT, 'test/bench'))
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => {
    const names = text('test/bench', name).matchAll(/(?:against|absolute|printLongest(?:Piece)?)\(\s*'(\w+)'/g);
    return [...names].map(([, figure]) => figure as string);
  });

/** Those that are made of two words. */
const TAKEOVERS = ['sealing', 'projecting'].flatMap((what) => [`takeover_${what}`, `takeover_${what}_of_vanished`]);

it('every figure of the bench has a goal and a line in docs/performance.json, and nothing else has', () => {
  expect(printed.length).toBeGreaterThan(20);
  expect([...documented].sort()).toEqual([...new Set([...printed, ...TAKEOVERS])].sort());
});

it.each(FIGURES.map((entry) => [entry['figure'], entry]))(
  '%s says when and on what class of machine it was seen',
  (_, entry) => {
    expect(entry['aim']).toMatch(/^at (?:most|least)$/);
    expect(entry['when']).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(entry['machine']).toMatch(/^\d+ cores(?:, (?:quick|slow))?(?:, (?:quiet|busy))?$/);
  },
);

it.each(FIGURES.map((entry) => [entry['figure'], entry]))(
  '%s is judged by the goal that stands beside it',
  (_, entry) => {
    const { aim, goal, value, ratio, holds } = entry;
    const judged = (ratio ?? value) as number;
    expect(holds).toBe(aim === 'at most' ? judged <= (goal as number) : judged >= (goal as number));
  },
);
