import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, ORG, packed, PEOPLE } from '../../libs/crypto/src/testing/given-chain.js';
import { encoded, linesOf, witnessed, witnessedBundle } from '../../libs/crypto/src/testing/witnessed-bundle.js';
import { objectsIn, runInProcess } from '../support/run-program.js';

const TRUST = ['--org', ORG, '--pin', KEY.publicKey.fingerprint];
/** The deed of an approval by two people. */
const APPROVED = JSON.parse(Buffer.from(witnessed[7]?.body ?? '').toString()) as {
  readonly id: string;
  readonly action: { readonly id: string };
  readonly approval: { readonly id: string };
};

let folder: string;
let bundle: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bundle-command-'));
  bundle = join(folder, 'deeds.tar.gz');
  await writeFile(bundle, await packed(await witnessedBundle()));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...args: readonly string[]) => runInProcess(['bundle', ...args]);
const words = (text: string): string => text.replace(/\s+/g, ' ');

describe('ags bundle show', () => {
  it.each([
    ['the action', APPROVED.action.id],
    ['its approval', APPROVED.approval.id],
    ['its deed', APPROVED.id],
  ])('tells by the id of %s who allowed what, with reasons and what they saw', async (_, id) => {
    const { code, stdout, stderr } = await run('show', bundle, id, ...TRUST);
    expect([code, stderr]).toEqual([0, '']);
    const said = words(stdout);
    for (const person of PEOPLE) expect(said).toContain(`signed by ${person}`);
    for (const member of ['action.args_digest', 'approval.countersigned.1.reason', 'approval.countersigned.0.context'])
      expect(said).toContain(`member: "${member}" note: "Grüße \\u0001" seq: 8`);
    expect(said).toContain('Who allowed it: approved, 2 of 2 signed');
    expect(said).toContain('no: that this person signed is the word of the service');
    expect(said).toContain('signed by the agent yes: by a key that the agent had then');
    expect(said).toContain('what the agent signed: agent: "agt_');
  });

  it('gives a program the same, with what is absent and why', async () => {
    const seq4 = JSON.parse(Buffer.from(witnessed[3]?.body ?? '').toString()) as typeof APPROVED;
    const { code, stdout } = await run('show', bundle, seq4.action.id, ...TRUST, '--json');
    expect([code, objectsIn(stdout)[0]]).toMatchObject([
      0,
      { object: 'action_account', id: seq4.action.id, asked: { arguments: { absent: 'removed' } } },
    ]);
  });

  it('says that a name is the word of the service, and that of a change what it was', async () => {
    const change = JSON.parse(Buffer.from(witnessed[2]?.body ?? '').toString()) as {
      id: string;
      admin: { action: string };
    };
    const { code, stdout } = await run('show', bundle, change.id, ...TRUST);
    expect([code, words(stdout)]).toEqual([0, expect.stringContaining('source_hash: "sha256:')]);
    expect(stdout).toContain(change.admin.action);
  });

  it('says plainly what it did not check: the windows of keys, and who signed the checkpoint', async () => {
    for (const args of [
      ['show', bundle, APPROVED.action.id],
      ['list', bundle],
      ['find', bundle, '--text', 'Grüße'],
    ]) {
      const { stdout, stderr } = await run(...args, ...TRUST);
      expect(words(stdout + stderr)).toMatch(
        /Not checked here: when its seal keys were active .*--keys, --checkpoint-key/,
      );
      const { stdout: json, stderr: said } = await run(...args, ...TRUST, '--json');
      expect(json + said).not.toContain('Not checked');
    }
  });

  it('says without pins that whose keys they are is the bundle’s own word', async () => {
    const { code, stderr } = await run('show', bundle, APPROVED.action.id);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Give --org and --pin')]);
  });

  it.each([
    ['an id of nothing', ['act_01h2xcejqtf2nbrexx3vqjhp46', ...TRUST], 1, 'not_found'],
    ['a pin without an organization', ['act_1', '--pin', KEY.publicKey.fingerprint], 2, 'usage'],
  ])('refuses %s', async (_, args, exitCode, errorCode) => {
    const { code, stderr } = await run('show', bundle, ...args, '--json');
    expect([code, objectsIn(stderr)[0]]).toMatchObject([exitCode, { code: errorCode }]);
  });

  it('shows nothing of a bundle in which a value was changed', async () => {
    const changed = join(folder, 'changed.tar.gz');
    const lines = encoded(linesOf(witnessed.slice(0, 9))).map((line) =>
      Buffer.from(line.toString().replace('"amount":80.5', '"amount":80.6')),
    );
    await writeFile(changed, await packed(await witnessedBundle({ lines })));
    const { code, stdout, stderr } = await run('show', changed, APPROVED.action.id, ...TRUST);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^Broken at seq 1\.\n.*payloads\.ndjson[^]*Nothing of it is shown\.\n$/);
  });

  it('says of a file that is none how to find out more', async () => {
    const { code, stderr } = await run('show', join(folder, 'gone.tar.gz'), 'act_1', '--json');
    expect([code, objectsIn(stderr)[0]]).toMatchObject([2, { code: 'file_unusable' }]);
  });
});

describe('ags bundle list and find', () => {
  it('list every deed, a line each', async () => {
    const { code, stdout } = await run('list', bundle, ...TRUST);
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 10]);
    const { stdout: json } = await run('list', bundle, ...TRUST, '--json');
    expect(objectsIn(json).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it.each([
    ['a tool', ['--tool', 'crm.get_customer'], [1, 2, 4, 5, 7, 8]],
    ['the beginning of a tool', ['--tool', 'crm.*'], [1, 2, 4, 5, 7, 8]],
    ['a person', ['--person', PEOPLE[0] ?? ''], [8]],
    ['a text in a value', ['--text', 'GRÜSSE \u0001'.replace('SS', 'ß')], [1, 2, 4, 5, 7, 8]],
    ['a text in one of them', ['--text', 'countersigned.1.reason'], [8]],
    ['a text that a deed says itself', ['--text', 'not this one'], [1, 4, 7]],
    ['a time', ['--from', '2026-10-01T12:00:08Z'], [8, 9]],
    ['several things', ['--tool', 'crm.*', '--to', '2026-10-01T12:00:03Z'], [1, 2]],
  ])('find by %s', async (_, args, seqs) => {
    const { stdout } = await run('find', bundle, ...TRUST, '--json', ...args);
    expect(objectsIn(stdout).map(({ seq }) => seq)).toEqual(seqs);
  });

  it('end with 1 where there is none', async () => {
    const { code, stderr } = await run('find', bundle, ...TRUST, '--text', 'nowhere', '--json');
    expect([code, objectsIn(stderr)[0]]).toMatchObject([1, { code: 'not_found' }]);
  });

  it('take no bundle through a pipe, and no time that is none', async () => {
    expect((await run('list', '-', ...TRUST)).stderr).toContain('read twice');
    expect((await run('list', bundle, '--from', 'yesterday')).code).toBe(2);
  });
});

describe('ags bundle html', () => {
  it('writes a folder of pages that lead to each other and run no script', async () => {
    const pages = join(folder, 'pages');
    const { code, stdout } = await run('html', bundle, pages, ...TRUST);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Open ')]);
    const names = await readdir(pages);
    expect(names).toHaveLength(10);
    const index = await readFile(join(pages, 'index.html'), 'utf8');
    const linked = [...index.matchAll(/href="([^"]+)"/g)].map(([, name]) => name);
    expect(linked.filter((name) => !names.includes(name ?? ''))).toEqual([]);
    const page = await readFile(join(pages, `${APPROVED.action.id}.html`), 'utf8');
    expect(page).toContain("default-src 'none'");
    expect(page).toContain('Grüße \\u0001');
    expect(page).not.toContain('<script');
  });

  it('writes into no folder that holds something', async () => {
    const { code, stderr } = await run('html', bundle, folder, ...TRUST, '--json');
    expect([code, objectsIn(stderr)[0]]).toMatchObject([2, { code: 'file_unusable' }]);
  });
});

describe('ags bundle verifier', () => {
  it('writes the page, and never over a file', async () => {
    const page = join(folder, 'verify.html');
    expect((await run('verifier', page)).code).toBe(0);
    expect(await readFile(page, 'utf8')).toContain('<h1>Verify a bundle</h1>');
    expect((await run('verifier', page)).code).toBe(2);
  });
});
