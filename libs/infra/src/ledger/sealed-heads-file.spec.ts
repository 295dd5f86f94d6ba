import { appendFile, copyFile, mkdir, mkdtemp, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { digestOf } from '#libs/crypto';
import type { OrgId } from '#libs/domain/kernel';
import type { SealedHead } from '#libs/domain/ledger';
import { collectingLogger, type CollectingLogger } from '../../../../test/support/collecting-logger.js';
import { newOrg } from '../../../../test/support/ledger-fixtures.js';
import { readSealedHeads, SealedHeadsFile, sealedHeadsPath } from './sealed-heads-file.js';

let folder: string;
let logger: CollectingLogger;
let opened: SealedHeadsFile[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sealed-heads-'));
  logger = collectingLogger();
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((file) => file.close()));
  await rm(folder, { recursive: true });
});

const openFile = async (path = sealedHeadsPath(folder)): Promise<SealedHeadsFile> => {
  const file = await SealedHeadsFile.open(path, logger);
  opened.push(file);
  return file;
};
const headOf = (org: OrgId, seq: number): SealedHead => ({
  org,
  seq,
  bodyHash: digestOf(Buffer.from(`${org} ${seq}`)),
});

describe('the file of sealed heads', () => {
  it.each(['\n', '\r\n'])('is read from a copy whose lines lost their padding and end with %j', async (end) => {
    const [org, other] = [newOrg(), newOrg()];
    const file = await openFile();
    for (const each of [org, other]) await file.remember(headOf(each, 7));
    const path = sealedHeadsPath(folder);
    const copy = join(folder, 'copy');
    await writeFile(copy, (await readFile(path, 'latin1')).replace(/ *\n/g, end));
    expect(await readSealedHeads(copy)).toEqual([headOf(org, 7), headOf(other, 7)]);
  });

  it('is empty before anything was sealed', async () => {
    expect(await (await openFile()).all()).toEqual([]);
    expect(await (await openFile()).of(newOrg())).toBeNull();
  });

  it('gives the last head of each organization to the next process', async () => {
    const [org, other] = [newOrg(), newOrg()];
    const file = await openFile();
    for (const seq of [1, 9, 10_000_000]) await file.remember(headOf(org, seq));
    await file.remember(headOf(other, 3));
    expect(await (await openFile()).of(org)).toEqual(headOf(org, 10_000_000));
    expect(await (await openFile()).all()).toEqual([headOf(org, 10_000_000), headOf(other, 3)]);
  });

  it('does not grow with the number of deeds, is private to its user, and is readable text', async () => {
    const org = newOrg();
    const file = await openFile();
    for (let seq = 1; seq < 20; seq += 1) await file.remember(headOf(org, seq));
    const path = sealedHeadsPath(folder);
    const { org: id, seq, bodyHash } = headOf(org, 19);
    expect((await readFile(path, 'utf8')).split('\n').map((line) => line.trimEnd())).toEqual([
      `${id} ${seq}:${bodyHash}`,
      '',
    ]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('never replaces a head by an earlier one', async () => {
    const org = newOrg();
    const file = await openFile();
    await file.remember(headOf(org, 5));
    await file.remember(headOf(org, 4));
    expect(await (await openFile()).of(org)).toEqual(headOf(org, 5));
  });

  it('writes only the last of the heads that arrive during a write', async () => {
    const [org, other] = [newOrg(), newOrg()];
    const file = await openFile();
    await file.remember(headOf(org, 1));
    const handle = await open(sealedHeadsPath(folder));
    const write = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'write');
    const remembered = Array.from({ length: 500 }, (_, index) => file.remember(headOf(org, index + 2)));
    await Promise.all([...remembered, file.remember(headOf(other, 7))]);
    expect(write).toHaveBeenCalledTimes(2);
    write.mockRestore();
    await handle.close();
    expect(await (await openFile()).all()).toEqual([headOf(org, 501), headOf(other, 7)]);
  });

  it('remembers the heads of deeds that are sealed after a decision', async () => {
    const org = newOrg();
    const file = await openFile();
    const done = [file.remember(headOf(org, 9)), file.settle(org, headOf(org, 2)), file.remember(headOf(org, 3))];
    await Promise.all(done);
    expect(await (await openFile()).of(org)).toEqual(headOf(org, 3));
  });

  it('takes an earlier head by an operator’s decision, also in a process that has the file open', async () => {
    const [org, other] = [newOrg(), newOrg()];
    const file = await openFile();
    await file.remember(headOf(org, 5));
    await file.remember(headOf(other, 7));
    await (await openFile()).settle(org, headOf(org, 2));
    expect(await file.all()).toEqual([headOf(org, 2), headOf(other, 7)]);
    expect(await file.of(org)).toEqual(headOf(org, 2));
    await file.remember(headOf(org, 3));
    expect(await (await openFile()).of(org)).toEqual(headOf(org, 3));
  });

  it('drops an organization whose ledger is decided to be empty', async () => {
    const [org, other] = [newOrg(), newOrg()];
    const file = await openFile();
    await file.remember(headOf(org, 5));
    await file.remember(headOf(other, 7));
    await (await openFile()).settle(org, null);
    expect([await file.of(org), await file.of(other)]).toEqual([null, headOf(other, 7)]);
    await file.remember(headOf(org, 1));
    expect(await (await openFile()).all()).toEqual([headOf(org, 1), headOf(other, 7)]);
    expect(logger.warnings).toEqual([]);
  });

  it('shows a process that has it open the organizations that another process adds', async () => {
    const [org, other] = [newOrg(), newOrg()];
    const [file, another] = [await openFile(), await openFile()];
    await file.remember(headOf(org, 1));
    await another.remember(headOf(other, 2));
    expect([await file.of(other), await another.of(org)]).toEqual([headOf(other, 2), headOf(org, 1)]);
    expect((await stat(sealedHeadsPath(folder))).size).toBe(2 * 128);
  });

  it('accepts thousands of organizations at once through one handle', async () => {
    const heads = Array.from({ length: 3_000 }, (_, index) => headOf(newOrg(), index + 1));
    const file = await openFile();
    await Promise.all(heads.map((head) => file.remember(head)));
    expect(await Promise.all(heads.map(({ org }) => file.of(org)))).toEqual(heads);
    expect(await readSealedHeads(sealedHeadsPath(folder))).toEqual(heads);
  });

  it('overwrites an incomplete record at its end', async () => {
    const [org, other] = [newOrg(), newOrg()];
    await (await openFile()).remember(headOf(org, 5));
    await appendFile(sealedHeadsPath(folder), 'org_torn');
    const file = await openFile();
    await file.remember(headOf(other, 1));
    await file.remember(headOf(other, 2));
    expect(await readSealedHeads(sealedHeadsPath(folder))).toEqual([headOf(org, 5), headOf(other, 2)]);
    expect((await stat(sealedHeadsPath(folder))).size).toBe(2 * 128);
  });

  it('reports lines that it cannot read, and returns the others', async () => {
    const [org, other] = [newOrg(), newOrg()];
    await (await openFile()).remember(headOf(org, 5));
    await appendFile(sealedHeadsPath(folder), '\0'.repeat(128));
    await (await openFile()).remember(headOf(other, 1));
    expect(await (await openFile()).all()).toEqual([headOf(org, 5), headOf(other, 1)]);
    expect(logger.warnings.at(-1)).toMatchObject({ lines: '1' });
  });

  it('that cannot be opened is reported before anything is sealed', async () => {
    await expect(openFile(join(folder, 'not', 'there', 'either'))).rejects.toMatchObject({ code: 'ENOENT' });
    await mkdir(sealedHeadsPath(folder));
    await expect(openFile()).rejects.toMatchObject({ code: 'EISDIR' });
  });

  it('is created together with a missing state directory, private to its user', async () => {
    const [org, path] = [newOrg(), sealedHeadsPath(join(folder, 'state'))];
    await (await openFile(path)).remember(headOf(org, 1));
    expect(await readSealedHeads(path)).toEqual([headOf(org, 1)]);
    expect((await stat(join(folder, 'state'))).mode & 0o777).toBe(0o700);
  });

  it('is opened again if somebody replaced or removed it', async () => {
    const [org, other] = [newOrg(), newOrg()];
    const path = sealedHeadsPath(folder);
    await (await openFile()).remember(headOf(org, 5));
    await copyFile(path, `${path}.before`);
    const file = await openFile();
    await file.remember(headOf(org, 9));
    await rename(`${path}.before`, path);
    expect(await file.of(org)).toEqual(headOf(org, 5));
    await file.remember(headOf(org, 6));
    expect(await readSealedHeads(path)).toEqual([headOf(org, 6)]);
    await rm(path);
    await file.remember(headOf(org, 7));
    await file.remember(headOf(other, 1));
    expect(await readSealedHeads(path)).toEqual([headOf(org, 7), headOf(other, 1)]);
  });

  it('is tried again if its replacement could not be opened', async () => {
    const org = newOrg();
    const path = sealedHeadsPath(folder);
    const file = await openFile();
    await file.remember(headOf(org, 1));
    await rm(path);
    await mkdir(path);
    await file.remember(headOf(org, 2));
    await file.remember(headOf(org, 3));
    expect(logger.errors).toHaveLength(1);
    await rm(path, { recursive: true });
    await file.remember(headOf(org, 4));
    expect(await readSealedHeads(path)).toEqual([headOf(org, 4)]);
  });

  it('that can no longer be written is reported once, and delays nothing', async () => {
    const org = newOrg();
    const file = await openFile();
    await file.close();
    for (const seq of [1, 2]) await file.remember(headOf(org, seq));
    expect(logger.errors).toHaveLength(1);
  });
});
