import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

it('the tables of the documents are made of their data as it is', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/docs-tables.mjs'), '--check'], {
    encoding: 'utf8',
  });
  expect([stderr, status]).toEqual(['', 0]);
});
