import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FAILPOINTS } from '#libs/domain/kernel';
import { ROOT } from '../support/service.js';

it('docs/failpoints.md lists every failpoint, in their order, and no other', () => {
  const rows = readFileSync(join(ROOT, 'docs', 'failpoints.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| `[a-z]+\.[a-z0-9_]/.test(line));
  const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(named).toEqual([...FAILPOINTS]);
});
