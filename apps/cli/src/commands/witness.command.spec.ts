import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { objectsIn, runInProcess } from '../../../../test/support/run-program.js';

const KEY = 'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';

let state: string;
beforeEach(async () => {
  state = join(await mkdtemp(join(tmpdir(), 'witness-')), 'state');
});
afterEach(() => rm(join(state, '..'), { recursive: true }));

const run = (...args: readonly string[]) => runInProcess(['witness', ...args]);

describe('ags witness', () => {
  it('init makes a key and prints its verifier keys; key prints them again', async () => {
    const made = await run('init', '--state', state, '--name', 'witness.example/w1');
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringMatching(/^(witness\.example\/w1\+[0-9a-f]{8}\+\S+\n){2}$/),
    ]);
    expect(await run('key', '--state', state)).toEqual(made);
    const { stdout } = await run('key', '--state', state, '--json');
    const vkeys = made.stdout.trim().split('\n');
    expect(objectsIn(stdout)).toEqual([{ object: 'witness_key', name: 'witness.example/w1', vkeys }]);
  });

  it.each([
    ['nothing to witness', []],
    ['no verifier key', ['--log', 'governance.example']],
    ['one word of two', ['--trust', 'governance.example']],
    ['a URL for a host', ['--trust', 'https://governance.example', KEY]],
    ['no port', ['--log', 'x', '--port', '65536']],
  ])('serve refuses arguments that cannot be meant: %s', async (_what, args) => {
    const { code, stderr } = await run('serve', '--state', state, ...args, '--json');
    expect([code, objectsIn(stderr)[0]]).toMatchObject([2, { code: 'usage' }]);
  });

  it('serve says how a directory without a key gets one', async () => {
    const { code, stderr } = await run('serve', '--state', state, '--trust', 'governance.example', KEY);
    expect([code, stderr]).toEqual([2, expect.stringContaining('npm run ags -- witness init')]);
  });

  it.each(['a b', 'a+b', '', 'x'.repeat(256)])('init takes no name that a note cannot hold: %j', async (name) => {
    expect((await run('init', '--state', state, '--name', name)).code).toBe(2);
  });
});
