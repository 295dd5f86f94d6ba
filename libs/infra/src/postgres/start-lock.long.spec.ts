import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSource } from '../../../../test/support/source-process.js';
import { processIdentity } from './live-process.js';
import { withStartLock } from './start-lock.js';

const CHILD = new URL('../../../../test/support/start-lock.child.ts', import.meta.url);
const EXHAUSTED_CHILD = new URL('../../../../test/support/exhausted-start-lock.child.ts', import.meta.url);

describe('the start lock', () => {
  let folder: string;
  let lock: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ags-lock-'));
    lock = join(folder, 'lock');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('names the process that holds it, and leaves no files behind', async () => {
    await withStartLock(lock, async () => {
      expect(JSON.parse(await readFile(lock, 'utf8'))).toMatchObject({ pid: process.pid });
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('is released if the guarded work fails', async () => {
    await expect(withStartLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(existsSync(lock)).toBe(false);
  });

  it('is released by a process that can open no more files', async () => {
    const child = startSource(EXHAUSTED_CHILD, { args: [lock], openFiles: 64 });
    expect(await child.nextLine()).toEqual({ outcome: 'EMFILE' });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['of a process that has ended', { pid: 2_147_483_646, identity: 'gone', token: 'a' }],
    ['whose number another process has got', { pid: process.pid, identity: 'earlier', token: 'a' }],
    ['that a crash of the machine has damaged', null],
  ])('is taken over from a lock %s', async (_, holder) => {
    await writeFile(lock, holder ? JSON.stringify(holder) : '');
    expect(await withStartLock(lock, () => Promise.resolve('taken'))).toBe('taken');
    expect(await readdir(folder)).toEqual([]);
  });

  it('waits for a live holder', async () => {
    const holder = { pid: process.ppid, identity: processIdentity(process.ppid), token: 'another' };
    await writeFile(lock, JSON.stringify(holder));
    let isTaken = false;
    const taking = withStartLock(lock, () => Promise.resolve((isTaken = true)));
    // Longer than twice the interval between two tries.
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(isTaken).toBe(false);
    await rm(lock);
    expect(await taking).toBe(true);
  });

  it('has one holder at a time, even if several processes find a stale lock together', async () => {
    const counter = join(folder, 'counter');
    await writeFile(counter, '0');
    await writeFile(lock, JSON.stringify({ pid: 2_147_483_646, identity: 'gone', token: 'stale' }));
    const children = Array.from({ length: 4 }, () => startSource(CHILD, { args: [lock, counter] }));
    await Promise.all(children.map((child) => child.nextLine()));
    expect(await readFile(counter, 'utf8')).toBe('40');
  });
});
