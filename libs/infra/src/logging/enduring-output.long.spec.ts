import fs from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { enduringOutput } from './enduring-output.js';

let folder: string;
let file: string;
let fd: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-output-'));
  file = join(folder, 'log');
  fd = fs.openSync(file, 'w');
});
afterEach(async () => {
  vi.restoreAllMocks();
  fs.closeSync(fd);
  await rm(folder, { recursive: true });
});

const LINE = `${'x'.repeat(1_023)}\n`;
/** What a disk does that is full. */
const fillUp = () =>
  vi.spyOn(fs, 'writeSync').mockImplementation(() => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });

it('holds what a full disk does not take, and says how much was lost when it takes lines again', async () => {
  const resumed: number[] = [];
  const output = enduringOutput(fd, (lost) => {
    resumed.push(lost);
    output.write('resumed\n');
  });
  output.write('first\n');
  const full = fillUp();
  // A MiB is held.
  for (let line = 0; line < 1_030; line += 1) output.write(LINE);
  expect(resumed).toEqual([]);
  full.mockRestore();
  output.write('last\n');
  const lines = (await readFile(file, 'utf8')).split('\n');
  expect(resumed).toEqual([6]);
  expect(lines.filter((line) => line.startsWith('x'))).toHaveLength(1_024);
  expect([lines[0], ...lines.slice(-3)]).toEqual(['first', 'last', 'resumed', '']);
});

it('loses nothing of what it could hold', async () => {
  const resumed: number[] = [];
  const output = enduringOutput(fd, (lost) => resumed.push(lost));
  const full = fillUp();
  output.write('one\n');
  output.write('two\n');
  full.mockRestore();
  output.write('three\n');
  expect([resumed, await readFile(file, 'utf8')]).toEqual([[], 'one\ntwo\nthree\n']);
});
