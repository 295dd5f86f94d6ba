import { beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import { deedOf, type EventEnvelope } from '#libs/domain/kernel';
import { LedgerReader, LedgerTails, SealFile, SealFileHandler } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { metadataAt } from '../../../../test/support/given.js';
import { LedgerBench, newOrg } from '../../../../test/support/ledger-fixtures.js';
import { AwaitDeed } from './await-deed.js';

const LONG_MS = 60_000;
const NEVER = new AbortController().signal;

describe('waiting for the deed of a change', () => {
  const org = newOrg();
  let bench: LedgerBench;
  let waiting: AwaitDeed;
  let event: EventEnvelope;

  beforeEach(async () => {
    bench = new LedgerBench(new MemoryEventStore());
    const { store, bus, clock } = bench;
    waiting = new AwaitDeed(new LedgerReader(store), new LedgerTails(store), bus, clock);
    await bench.activateKey();
    const file = { sha256: digestOf('report'), bytes: 6, media_type: 'text/plain', label: 'Report' } as const;
    const handler = new SealFileHandler(bench.runner, store);
    event = await handler.execute(new SealFile({ org, ...file }, { ...metadataAt(), org }));
  });

  const seal = async () => bench.feed(bench.sealer(), await bench.log());

  it('ends with the deed once the sealer has made it', async () => {
    const sealing = waiting.sealing(event, org, { waitMs: LONG_MS, ended: NEVER });
    await seal();
    expect(await sealing).toMatchObject({ deed: deedOf(event), kind: 'admin' });
  });

  it('ends at once if the deed is already in the ledger', async () => {
    await seal();
    expect(await waiting.sealing(event, org, { waitMs: 0, ended: NEVER })).toMatchObject({ deed: deedOf(event) });
  });

  it('ends without a deed when the time is over or the caller has gone', async () => {
    expect(await waiting.sealing(event, org, { waitMs: 0, ended: NEVER })).toBeNull();
    const gone = AbortSignal.abort();
    expect(await waiting.sealing(event, org, { waitMs: LONG_MS, ended: gone })).toBeNull();
  });
});
