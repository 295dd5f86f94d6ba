import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, KEY, ORG, packed } from '../../libs/crypto/src/testing/given-chain.js';
import { HELD, encoded, linesOf, witnessed, witnessedBundle } from '../../libs/crypto/src/testing/witnessed-bundle.js';
import { objectsIn, runInProcess } from '../support/run-program.js';

const TRUST = ['--org', ORG, '--pin', KEY.publicKey.fingerprint];

let folder: string;
let bundle: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'taken-out-'));
  bundle = join(folder, 'deeds.tar.gz');
  const lines = linesOf(witnessed.slice(0, HELD)).filter(
    (line) => line.kind !== 'opened' || line.seq !== 8 || !line.member.startsWith('approval.countersigned'),
  );
  await writeFile(bundle, await packed(await witnessedBundle({ lines: encoded(lines) })));
});
afterAll(() => rm(folder, { recursive: true }));

describe('values that were taken out of a bundle', () => {
  it('are counted by the verdict, which says what to ask', async () => {
    const { stdout: json } = await runInProcess(['verify', bundle, ...TRUST, '--json']);
    expect(objectsIn(json)[0]).toMatchObject({ result: 'intact', evidence: { not_given: 4 } });
    const { stdout } = await runInProcess(['verify', bundle, ...TRUST]);
    expect(stdout).toContain('4 not given');
    expect(stdout).toMatch(/Not proven:[^]*- 4 values that deeds stand for are not given/);
  });

  it.each(['list', 'find'])('are told of by %s, beside what it lists', async (command) => {
    const { code, stderr } = await runInProcess(['bundle', command, bundle, ...TRUST]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('4 values that deeds stand for are not given')]);
  });

  it('are told of on the first page of a folder', async () => {
    const pages = join(folder, 'pages');
    await runInProcess(['bundle', 'html', bundle, pages, ...TRUST]);
    expect(await readFile(join(pages, 'index.html'), 'utf8')).toContain('4 values that deeds stand for are not given');
  });
});

it('tells of a part of the chain that what stands before it is open', async () => {
  const part = join(folder, 'part.tar.gz');
  await writeFile(
    part,
    await packed(await witnessedBundle({ deeds: witnessed.slice(4, HELD), manifest: { from: at(0) } })),
  );
  const { stdout } = await runInProcess(['verify', part, ...TRUST]);
  expect(stdout).toMatch(/Not proven:[^]*- what stands before seq 5/);
});
