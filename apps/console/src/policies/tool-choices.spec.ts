import { expect, it } from 'vitest';
import { toolChoices } from './tool-choices.ts';

const tool = (name: string, description: string | null) => ({ name, side_effect: 'unknown' as const, description });

it('a completion says what its tool does, in short: a server may say very much of it', () => {
  const details = toolChoices([tool('issues.list', 'Lists\u202e them.'), tool('issues.search', 'x'.repeat(60_000))]);
  expect(details.map(({ label, detail }) => [label, detail])).toEqual([
    ['issues.*', 'unknown: all 2 tools'],
    ['issues.list', 'unknown: Lists<U+202E> them.'],
    ['issues.search', `unknown: ${'x'.repeat(200)} …`],
  ]);
});
