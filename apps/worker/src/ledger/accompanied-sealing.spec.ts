import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import type { SigningKey } from '#libs/crypto';
import {
  decodeEvent,
  NO_METER,
  ONLY_STREAM,
  streamOf,
  type Accompany,
  type Companions,
  type CompanionsEnd,
  type Logger,
  type OrgId,
  type RecordedEvent,
} from '#libs/domain/kernel';
import { SealKeyAdministration, sealKeyDecider, type LedgerEvent, type Sealer } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { SystemClock } from '#libs/infra/runtime';
import { metadataAt } from '../../../../test/support/given.js';
import { HeldProgress, LedgerBench, newOrg } from '../../../../test/support/ledger-fixtures.js';
import { SealingLoop } from './sealing-loop.js';

/** Records how companions ended, and lets a test change them before they are written. */
class WatchedStore extends MemoryEventStore {
  readonly ends: CompanionsEnd[] = [];
  offered = 0;
  /** Changes the companions before they are written; null to hold them back. */
  change: (companions: Companions) => Companions | null = (companions) => companions;

  override accompany(accompany: Accompany, onError: (error: unknown) => void): () => void {
    return super.accompany((departing) => {
      const companions = accompany(departing);
      if (companions === null) return null;
      this.offered += 1;
      const ended = (end: CompanionsEnd): void => {
        this.ends.push(end);
        companions.ended(end);
      };
      return this.change({ ...companions, ended });
    }, onError);
  }
}

const SETTLED = { timeout: 20_000, interval: 5 };

let store: WatchedStore;
let bench: LedgerBench;
let sealer: Sealer;
let warn: Mock<Logger['warn']>;
const ignore = (): void => undefined;
let stopping: AbortController;
let firstKey: SigningKey;
let running: Promise<void>;

beforeEach(async () => {
  store = new WatchedStore();
  bench = new LedgerBench(store);
  stopping = new AbortController();
  firstKey = await bench.activateKey();
  sealer = bench.sealer();
  warn = vi.fn<Logger['warn']>();
  running = new SealingLoop({
    store,
    appends: bench.profile.appends,
    sealer,
    sealKeys: new SealKeyAdministration(bench.runner, bench.streams, bench.keys),
    progress: new HeldProgress(),
    clock: new SystemClock(),
    logger: { debug: ignore, info: ignore, warn, error: ignore },
    meter: NO_METER,
    retryIntervalMs: 20,
  }).run(stopping.signal);
});
afterEach(async () => {
  stopping.abort();
  await running;
});

const sourcesOf = async (org: OrgId): Promise<readonly (string | undefined)[]> =>
  (await bench.ledgerOf(org)).map((recorded) => decodeEvent<LedgerEvent>(recorded).metadata.source?.stream);
/** Waits until each of these actions has one deed, in their order. */
const sealedAre = (org: OrgId, streams: readonly (string | undefined)[]) =>
  vi.waitFor(async () => expect(await sourcesOf(org)).toEqual(streams), SETTLED);
/** An organization whose ledger the sealer has in its cache: its first deed was sealed after its event. */
const knownOrg = async (): Promise<OrgId> => {
  const org = newOrg();
  await sealedAre(org, [await bench.recordAction(org)]);
  return org;
};
/** Records an action while the sealer is at rest, so that the deed can be written in the same commit. */
const recordAtRest = async (org: OrgId, kind: 'refused' | 'executed'): Promise<string> => {
  const before = store.offered;
  for (;;) {
    const stream = await bench.recordAction(org, kind);
    if (store.offered > before) return stream;
    await sealedLast(org, stream);
  }
};
const sealedLast = (org: OrgId, stream: string) =>
  vi.waitFor(async () => expect((await sourcesOf(org)).at(-1)).toBe(stream), SETTLED);
const behind = async (stream: string): Promise<RecordedEvent | undefined> => {
  const log = await bench.log();
  return log[log.findLastIndex((event) => event.stream === stream) + 1];
};

describe('a deed that is written in the commit of its event', () => {
  it.each(['refused', 'executed'] as const)(
    'comes right after the event that records an action that was %s',
    async (kind) => {
      const org = await knownOrg();
      const stream = await recordAtRest(org, kind);
      expect(store.ends).toEqual(['written']);
      const deed = await behind(stream);
      expect(deed?.stream).toBe(streamOf('ledger', org));
      expect(decodeEvent<LedgerEvent>(deed as RecordedEvent).metadata.source?.stream).toBe(stream);
    },
  );

  it('is the only deed of its event, and the next deed follows it', async () => {
    const org = await knownOrg();
    await recordAtRest(org, 'executed');
    const before = await sourcesOf(org);
    const next = [await bench.recordAction(org), await bench.recordAction(org, 'executed')];
    await sealedAre(org, [...before, ...next]);
  });

  it('is remembered in the sealed heads, and announced on the bus', async () => {
    const org = await knownOrg();
    const published = vi.spyOn(bench.bus, 'publish');
    const stream = await recordAtRest(org, 'executed');
    expect(published).toHaveBeenCalledWith(expect.stringContaining(stream.slice('action-'.length)), 'sealed');
    const ledger = await bench.ledgerOf(org);
    expect(bench.heads.rows.get(org)?.seq).toBe(ledger.length);
  });

  it('is sealed afterwards if the log has moved on meanwhile', async () => {
    const org = await knownOrg();
    store.change = (companions) => ({ ...companions, requires: new Map([['elsewhere', 7]]) });
    const stream = await recordAtRest(org, 'executed');
    expect(store.ends).toEqual(['left_out']);
    await sealedLast(org, stream);
  });

  it('is sealed afterwards if it could not be made, and the log says why', async () => {
    const org = await knownOrg();
    const error = new Error('the deed could not be signed');
    vi.spyOn(sealer, 'accompany').mockImplementation(() => {
      throw error;
    });
    // A sealer that is at work is not asked.
    while (warn.mock.calls.length === 0) {
      const stream = await bench.recordAction(org, 'executed');
      await sealedLast(org, stream);
    }
    expect(warn.mock.calls[0]).toEqual(['a deed could not be sealed along with its event', { error }]);
    expect(store.ends).toEqual([]);
  });

  it.each([true, false])(
    'is sealed once if the result of its commit is unclear (it was written: %s)',
    async (isWritten) => {
      const org = await knownOrg();
      store.change = ({ ended, ...companions }) => {
        // As after a lost answer: the rows are the same, but the sealer does not learn that they were written.
        const unclear = { ...companions, ended: () => ended('unclear') };
        return isWritten ? unclear : { ...unclear, requires: new Map([['elsewhere', 7]]) };
      };
      const stream = await recordAtRest(org, 'executed');
      expect(store.ends).toEqual(['unclear']);
      await sealedLast(org, stream);
      const next = await bench.recordAction(org);
      await sealedLast(org, next);
      const sources = await sourcesOf(org);
      expect(new Set(sources).size).toBe(sources.length);
    },
  );

  it('is signed only by a key that is still valid when it is written', async () => {
    const org = await knownOrg();
    await recordAtRest(org, 'executed');
    const metadata = { ...metadataAt(), org: null, commandId: 'revoke' };
    const data = { kid: firstKey.publicKey.kid, reason: null };
    await bench.runner.run(sealKeyDecider, ONLY_STREAM, { type: 'RevokeSealKey', data, metadata }, metadata);
    const offered = store.offered;
    const stream = await bench.recordAction(org, 'executed');
    expect(store.offered).toBe(offered);
    const key = await bench.activateKey();
    await sealedLast(org, stream);
    const last = (await bench.ledgerOf(org)).at(-1) as RecordedEvent;
    expect(decodeEvent<LedgerEvent>(last).event.data.kid).toBe(key.publicKey.kid);
  });

  it('is no longer written once the sealer has stopped', async () => {
    const org = await knownOrg();
    await recordAtRest(org, 'executed');
    stopping.abort();
    await running;
    const offered = store.offered;
    await bench.recordAction(org, 'executed');
    expect(store.offered).toBe(offered);
  });
});
