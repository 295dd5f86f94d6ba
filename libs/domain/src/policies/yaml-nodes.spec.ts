import { isMap } from 'yaml';
import { expect, it } from 'vitest';

import { checkSource } from './check-source.js';
import { parseYaml } from './yaml-nodes.js';

it('a source is read in one piece and composed in another, with a turn for others between them', () => {
  const { source, diagnostics } = checkSource('version: 1\ndefault: deny\n');
  const pieces = parseYaml(source, diagnostics);
  expect(pieces.next()).toEqual({ done: false, value: undefined });
  const last = pieces.next();
  expect(last.done).toBe(true);
  expect(isMap(last.value?.node)).toBe(true);
  expect(diagnostics.list()).toEqual([]);
});
