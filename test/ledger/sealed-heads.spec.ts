import { beforeEach, describe, expect, it, vi } from 'vitest';
import { digestOf } from '#libs/crypto';
import { decodeEvent, type OrgId } from '#libs/domain/kernel';
import { LedgerWentBack, type LedgerEvent } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { after } from '../support/given.js';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';

let bench: LedgerBench;
let org: OrgId;

beforeEach(async () => {
  bench = new LedgerBench(new MemoryEventStore());
  await bench.activateKey();
  org = newOrg();
  await bench.recordAction(org);
  await sealAll(bench);
});

const sealAll = async (some: LedgerBench): Promise<void> => some.feed(some.sealer(), await some.log());

/** A database that went back to its first `count` events, with the same keys and remembered heads. */
const asItWasAt = async (count: number): Promise<LedgerBench> => {
  const store = new MemoryEventStore();
  for (const { stream, revision, id, type, data, metadata } of (await bench.log()).slice(0, count)) {
    const expectedRevision = revision === 0 ? 'no_stream' : revision - 1;
    await store.append({ stream, expectedRevision, events: [{ id, type, data, metadata }] });
  }
  return new LedgerBench(store, bench.keys, bench.heads);
};
const hashesOf = async (some: LedgerBench): Promise<readonly string[]> =>
  (await some.ledgerOf(org)).map((recorded) => decodeEvent<LedgerEvent>(recorded).event.data.body_hash);

describe('where ledgers end is remembered outside of the database (rule DEED-14)', () => {
  it('after every append of deeds', async () => {
    await bench.recordAction(org);
    await bench.recordAction(org, 'executed');
    await sealAll(bench);
    const [, , bodyHash] = await hashesOf(bench);
    expect([...bench.heads.rows.values()]).toEqual([{ org, seq: 3, bodyHash }]);
  });

  it('before the next seal, for deeds whose append was unclear or that another sealer made', async () => {
    await bench.recordAction(org);
    await sealAll(new LedgerBench(bench.store, bench.keys));
    expect(bench.heads.rows.get(org)?.seq).toBe(1);
    const sealer = bench.sealer();
    expect(await sealer.compareLengths()).toEqual({ shorter: [], longer: [org] });
    await sealer.rememberAnew(org);
    const [, bodyHash] = await hashesOf(bench);
    expect(bench.heads.rows.get(org)).toEqual({ org, seq: 2, bodyHash });
  });

  it('and a ledger that became shorter does not give out a number again', async () => {
    const count = (await bench.log()).length;
    await bench.recordAction(org);
    await sealAll(bench);
    const older = await asItWasAt(count);
    await older.recordAction(org);
    await expect(sealAll(older)).rejects.toThrow(LedgerWentBack);
    expect(await hashesOf(older)).toHaveLength(1);
    expect(await older.sealer().compareLengths()).toMatchObject({ shorter: [{ org }], longer: [] });
  });

  it.each([
    ['as long as it was', 1],
    ['longer than it was', 2],
  ])('nor does one that is %s, with another deed there', async (_, deeds) => {
    const older = await asItWasAt((await bench.log()).length - 1);
    // Sealed at another time by a sealer that remembers no heads.
    const forgetful = new LedgerBench(older.store, bench.keys);
    forgetful.clock.ms = Date.parse(after(1_000));
    if (deeds === 2) await older.recordAction(org);
    await sealAll(forgetful);
    const forked = await hashesOf(older);
    await older.recordAction(org);
    await expect(sealAll(older)).rejects.toThrow(LedgerWentBack);
    expect([forked.length, await hashesOf(older)]).toEqual([deeds, forked]);
  });

  it('for many ledgers, compared few at a time, so that a sealer can ask in between', async () => {
    const orgs = Array.from({ length: 170 }, newOrg);
    for (const one of orgs) await bench.heads.remember({ org: one, seq: 1, bodyHash: digestOf('lost') });
    const heads = vi.spyOn(bench.store, 'heads');
    const { shorter } = await bench.sealer().compareLengths();
    expect(shorter.map((fault) => fault.org)).toEqual(orgs);
    expect(Math.max(...heads.mock.calls.map(([streams]) => streams.length))).toBe(50);
  });

  it('and sealing continues in a ledger that another sealer has made longer', async () => {
    await bench.recordAction(org);
    await sealAll(new LedgerBench(bench.store, bench.keys));
    await bench.recordAction(org);
    await sealAll(bench);
    expect(await hashesOf(bench)).toHaveLength(3);
    expect(bench.heads.rows.get(org)?.seq).toBe(3);
  });
});
