import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const TOKENS = readFileSync(new URL('tokens.css', import.meta.url), 'utf8');

type Theme = 'light' | 'dark';

/**
 * The value of a token in a theme. A token is declared as `--name: light-dark(#light, #dark)`, or as `--name: #both`.
 */
const colour = (name: string, theme: Theme): string => {
  const [, value = ''] = new RegExp(`^  --${name}: (.+);$`, 'm').exec(TOKENS) ?? [];
  const [, light, dark] = /^light-dark\((#\w{6}), (#\w{6})\)$/.exec(value) ?? [null, value, value];
  return (theme === 'light' ? light : dark) ?? '';
};

/** Relative luminance, as WCAG 2.2 defines it. */
const luminance = (hex: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const contrast = (one: string, other: string): number => {
  const [brighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (brighter + 0.05) / (darker + 0.05);
};

const GROUNDS = ['ground', 'ground-2', 'ground-3'];

/** Pairs of colours that occur together: first text on its ground, then edges that only have to be distinguishable. */
const TEXTS: readonly (readonly [ink: string, ground: string])[] = [
  ...['ink', 'ink-2'].flatMap((ink) => GROUNDS.map((ground) => [ink, ground] as const)),
  ...['ground', 'ground-2'].map((ground) => ['ink-3', ground] as const),
  ...['accent', 'ok', 'warn', 'bad'].flatMap((ink) => [
    [ink, 'ground'] as const,
    [ink, 'ground-2'] as const,
    [ink, `${ink}-ground`] as const,
  ]),
  ...['accent-ground', 'ok-ground', 'warn-ground', 'bad-ground'].map((ground) => ['ink', ground] as const),
  ['on-accent', 'accent'],
  ['on-stop', 'stop'],
];
const EDGES: readonly (readonly [edge: string, ground: string])[] = [
  ['edge', 'ground'],
  ['edge', 'ground-2'],
  ['accent', 'ground'],
  ['bad', 'ground'],
  ['stop', 'ground'],
];

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  it.each(TEXTS)('%s can be read on %s', (ink, ground) => {
    expect(contrast(colour(ink, theme), colour(ground, theme))).toBeGreaterThanOrEqual(4.5);
  });

  it.each(EDGES)('%s can be told from %s', (edge, ground) => {
    expect(contrast(colour(edge, theme), colour(ground, theme))).toBeGreaterThanOrEqual(3);
  });
});

it('an ink of too little contrast fails the check', () => {
  expect(contrast('#aaaaaa', '#ffffff')).toBeLessThan(4.5);
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
});
