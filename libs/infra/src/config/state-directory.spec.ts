import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asStranger, isRoot, STRANGER } from '../../../../test/support/as-stranger.js';
import {
  isThere,
  makeOwnStateDirectory,
  makeStateDirectory,
  prepareStateDirectory,
  StateDirectoryError,
} from './state-directory.js';

const STATE_MODE = isRoot ? 0o711 : 0o700;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-state-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

const refusal = async (work: () => Promise<unknown>): Promise<string> => {
  const error = await work().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StateDirectoryError);
  return (error as StateDirectoryError).message;
};

describe('the state directory', () => {
  it('is made with its folder of keys, and what is missing above it', async () => {
    const stateDir = join(folder, 'a', 'b', 'state');
    expect(await prepareStateDirectory(stateDir)).toBe('done');
    expect([await modeOf(stateDir), await modeOf(join(stateDir, 'keys'))]).toEqual([STATE_MODE, 0o700]);
    expect(await prepareStateDirectory(stateDir)).toBe('skipped');
    await chmod(join(stateDir, 'keys'), 0o755);
    expect(await prepareStateDirectory(stateDir)).toBe('changed');
    expect(await modeOf(join(stateDir, 'keys'))).toBe(0o700);
  });

  it.skipIf(!isRoot).each([
    ['itself', ''],
    ['its folder of keys', 'keys'],
  ])('is not used where %s is another user’s, who may have put keys there', async (_, name) => {
    const stateDir = join(folder, 'state');
    await prepareStateDirectory(stateDir);
    await chown(join(stateDir, name), STRANGER, STRANGER);
    expect(await refusal(() => prepareStateDirectory(stateDir))).toMatch(
      new RegExp(`belongs to user ${STRANGER}, and this is user 0`),
    );
  });

  it.runIf(isRoot)('is not filled where it is another user’s', async () => {
    const stateDir = join(folder, 'state');
    await mkdir(stateDir);
    await makeOwnStateDirectory(stateDir);
    await chown(stateDir, STRANGER, STRANGER);
    expect(await refusal(() => makeOwnStateDirectory(stateDir))).toContain(`belongs to user ${STRANGER}`);
  });

  it('is made once by several who start at the same time', async () => {
    const stateDir = join(folder, 'a', 'b', 'state');
    const made = await Promise.all(Array.from({ length: 16 }, () => prepareStateDirectory(stateDir)));
    expect(made.filter((status) => status === 'done')).toHaveLength(1);
  });

  it.skipIf(!existsSync('/proc/self'))(
    'where no folder can be made is refused, not tried for ever (where there is /proc)',
    async () => {
      for (const make of [prepareStateDirectory, makeStateDirectory]) {
        expect(await refusal(() => make('/proc/ags/state'))).toBe(
          '/proc/ags cannot be used: no folder can be made there. Set SERVICE_STATE_DIR to a folder of your own.',
        );
      }
    },
  );

  it('that is a file is refused', async () => {
    const file = join(folder, 'state');
    await writeFile(file, '');
    expect(await refusal(() => prepareStateDirectory(file))).toBe(
      `${file} cannot be used: something else has that name. Set SERVICE_STATE_DIR to a folder of your own.`,
    );
    expect(await refusal(() => isThere(file, join(file, 'keys', 'vault.key')))).toContain('not a folder');
  });

  it('of another user is refused, with whose it is and what to do', async () => {
    const stateDir = join(folder, 'state');
    await mkdir(stateDir);
    const path = join(stateDir, 'keys', 'vault.key');
    for (const work of [() => isThere(stateDir, path), () => prepareStateDirectory(stateDir)]) {
      const message = await asStranger(folder, () => refusal(work));
      expect(message).toContain('access is denied');
      expect(message).toContain('Run this as the user that made the state directory, or set SERVICE_STATE_DIR');
    }
    if (isRoot) {
      expect(await asStranger(folder, () => refusal(() => isThere(folder, join(folder, 'keys'))))).toContain(
        `${folder} belongs to user 0, and this is user ${STRANGER}.`,
      );
    }
  });

  it('holds a thing or does not', async () => {
    expect(await isThere(folder, join(folder, 'keys'))).toBe(false);
    await mkdir(join(folder, 'keys'));
    expect(await isThere(folder, join(folder, 'keys'))).toBe(true);
  });
});
