import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, givenChain, KEY, ORG, packed, PEOPLE, rawOf } from '../../libs/crypto/src/testing/given-chain.js';
import {
  bodyOf,
  encoded,
  HELD,
  linesOf,
  witnessed,
  witnessedBundle,
} from '../../libs/crypto/src/testing/witnessed-bundle.js';
import { objectsIn, runInProcess } from '../support/run-program.js';

const TRUST = ['--org', ORG, '--pin', KEY.publicKey.fingerprint];
const LONG_TOOL = `crm.${'x'.repeat(196)}`;
const [anna = ''] = PEOPLE;

let folder: string;
const file = async (name: string, bytes: Buffer): Promise<string> => {
  await writeFile(join(folder, name), bytes);
  return join(folder, name);
};
let withEvidence: string;
let plain: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lists-'));
  const names = linesOf(witnessed.slice(0, HELD)).filter(({ kind }) => kind !== 'name');
  const anna_ = { kind: 'name', type: 'user', id: anna, name: 'Anna (usr_1)' } as const;
  withEvidence = await file('deeds.tar.gz', await packed(await witnessedBundle({ lines: encoded([...names, anna_]) })));
  const chain = givenChain(4, {
    changeAt: (seq) => {
      const [, , , call] = givenChain(4).map(bodyOf);
      return seq === 4 && call?.action ? { action: { ...call.action, tool: LONG_TOOL } } : {};
    },
  });
  plain = await file('plain.tar.gz', await packed(rawOf(chain)));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...args: readonly string[]) => runInProcess(['bundle', ...args, ...TRUST]);

describe('a list of deeds', () => {
  it('names also an operator, who has no id', async () => {
    expect((await run('list', plain)).stdout).toMatch(/agent\.created +the operator/);
    const rows = objectsIn((await run('list', plain, '--json')).stdout);
    expect(rows[2]).toMatchObject({ who: null, actor: 'operator' });
  });

  it('is not made wide by a name that a stranger chose', async () => {
    const { stdout } = await run('list', plain);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(250);
    expect(objectsIn((await run('list', plain, '--json')).stdout)[3]).toMatchObject({ what: LONG_TOOL });
  });

  it.each([
    ['2026-02-30', '2026-03-02'],
    ['2026-02-30T00:00:00Z', '2026-03-02'],
  ])('takes no day that is none: %s', async (from, to) => {
    expect((await run('list', plain, '--from', from, '--to', to)).code).toBe(2);
  });

  it('says that nothing lies between a time and itself', async () => {
    const { code, stderr } = await run('list', plain, '--from', '2026-10-01', '--to', '2026-10-01');
    expect([code, stderr]).toEqual([2, expect.stringContaining('one day is --from 2026-11-30 --to 2026-12-01')]);
  });

  it.each([
    ['a tool, which every deed names', () => plain, ['--tool', 'nope'], /is so\.\n$/],
    ['a text, in a bundle without evidence', () => plain, ['--text', 'nope'], /exported without evidence/],
    ['a text, in a bundle with evidence', () => withEvidence, ['--text', 'nope'], /not in what was removed/],
  ])('says why there is none of %s', async (_, path, args, said) => {
    const { code, stderr } = await run('find', path(), ...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(said)]);
  });
});

describe('a deed', () => {
  it('is shown by its seq, as verify names it', async () => {
    expect((await run('show', withEvidence, '8')).stdout).toContain('Who allowed it');
    expect((await run('show', withEvidence, '88')).code).toBe(1);
  });

  it('has names in quotes that no deed holds', async () => {
    expect((await run('show', withEvidence, '8')).stdout).toContain(`"Anna (usr_1)"* (${anna})`);
  });
});

it('makes no folder of a bundle without deeds', async () => {
  const empty = await file('empty.tar.gz', await packed(rawOf([], undefined, { to: at(1) })));
  const pages = join(folder, 'pages');
  const { code, stderr } = await run('html', empty, pages);
  expect([code, stderr]).toEqual([1, expect.stringContaining('holds no deeds')]);
  expect(await readdir(folder)).not.toContain('pages');
});
