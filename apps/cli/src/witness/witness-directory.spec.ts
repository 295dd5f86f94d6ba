import { chmod, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryLock, DirectoryLockError } from './directory-lock.js';
import { holdState, initWitness, readWitnessKey, WitnessDirectoryError } from './witness-directory.js';

const NAME = 'witness.example/w1';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'witness-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('the directory of a witness', () => {
  it('keeps one key of one name, which only its user may read', async () => {
    const key = await initWitness(directory, NAME);
    expect((await initWitness(directory, NAME)).vkeys).toEqual(key.vkeys);
    expect((await readWitnessKey(directory)).vkeys).toEqual(key.vkeys);
    expect((await stat(join(directory, 'witness.key'))).mode & 0o777).toBe(0o600);
    await expect(initWitness(directory, 'witness.example/w2')).rejects.toThrow('has the key of witness.example/w1');
  });

  it('gets one key where two make it at once', async () => {
    const made = await Promise.all([initWitness(directory, NAME), initWitness(directory, NAME)]);
    expect(made[0].vkeys).toEqual(made[1].vkeys);
    expect((await readdir(directory)).toSorted()).toEqual(['logs', 'witness.key']);
  });

  it('is not used without a key, with one that others can read, or with one that is damaged', async () => {
    await expect(holdState(directory)).rejects.toThrow('witness init');
    await initWitness(directory, NAME);
    await chmod(join(directory, 'witness.key'), 0o644);
    await expect(holdState(directory)).rejects.toThrow('readable by others');
    await chmod(join(directory, 'witness.key'), 0o600);
    for (const content of ['', '{', 'null', '{"version":1}']) {
      await writeFile(join(directory, 'witness.key'), content);
      await expect(holdState(directory)).rejects.toThrow(WitnessDirectoryError);
    }
  });

  it('is not used where what was cosigned is gone', async () => {
    await initWitness(directory, NAME);
    await rename(join(directory, 'logs'), join(directory, 'elsewhere'));
    await expect(holdState(directory)).rejects.toThrow('under the same key it could say the opposite');
  });
});

describe('the lock of a directory', () => {
  it('lets nobody else in until it is released', async () => {
    const lock = await DirectoryLock.take(directory);
    await expect(DirectoryLock.take(directory)).rejects.toThrow('Another witness runs on');
    await lock.release();
    await (await DirectoryLock.take(directory)).release();
    expect(await readdir(directory)).toEqual([]);
  });

  it('is had by one at most of many that start at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const taken = await Promise.allSettled(Array.from({ length: 5 }, () => DirectoryLock.take(directory)));
      const held = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(held.length).toBeLessThanOrEqual(1);
      for (const lock of held) await lock.release();
    }
  });

  it('says what to do where the path is too long for a socket', async () => {
    await expect(DirectoryLock.take(join(directory, 'x'.repeat(90)))).rejects.toThrow(DirectoryLockError);
  });
});
