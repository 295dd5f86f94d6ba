import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { asStranger } from '../../../../test/support/as-stranger.js';
import { StateDirectoryError } from '../config/index.js';
import { requireSettledRestore } from './restored-mark.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-restored-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const refusal = (stateDir: string): Promise<unknown> =>
  asStranger(folder, () =>
    requireSettledRestore(stateDir).then(
      () => null,
      (error: unknown) => error,
    ),
  );

it.each([
  ['another user’s', ''],
  ['in another user’s folder', 'state'],
])(
  'a state directory that is %s is named as what cannot be used, not the file that was looked for',
  async (_t, name) => {
    const stateDir = join(folder, name);
    await mkdir(stateDir, { recursive: true });
    const error = await refusal(stateDir);
    expect(error).toBeInstanceOf(StateDirectoryError);
    const { message } = error as StateDirectoryError;
    expect(message).toMatch(new RegExp(`^${stateDir} cannot be used: access is denied\\.`));
    expect(message).toMatch(/or set SERVICE_STATE_DIR to a folder of your own\.$/);
  },
);

it('a state directory that is not there waits for no decision', async () => {
  expect(await requireSettledRestore(join(folder, 'nowhere'))).toBe(undefined);
});
