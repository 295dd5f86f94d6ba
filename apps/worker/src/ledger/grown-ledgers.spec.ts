import { afterEach, beforeEach, expect, it, describe, vi } from 'vitest';
import { digestOf } from '#libs/crypto';
import {
  StoreUnavailable,
  streamOf,
  type OrgId,
  type ReadStreamOptions,
  type RecordedEvent,
} from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { deferred } from '../../../../test/support/deferred.js';
import { HeldProgress, LedgerBench, newOrg } from '../../../../test/support/ledger-fixtures.js';
import { RunningSealers } from '../../../../test/support/running-sealers.js';

class SlowStore extends MemoryEventStore {
  /** Resolves when a read of the stream may be answered. */
  mayAnswer: (stream: string) => Promise<void> = () => Promise.resolve();

  override async readStream(stream: string, options?: ReadStreamOptions): Promise<readonly RecordedEvent[]> {
    await this.mayAnswer(stream);
    return super.readStream(stream, options);
  }

  override async heads(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    await Promise.all(streams.map((stream) => this.mayAnswer(stream)));
    return super.heads(streams);
  }
}

const SETTLED = { timeout: 20_000, interval: 5 };

let store: SlowStore;
let bench: LedgerBench;
let progress: HeldProgress;
let sealers: RunningSealers;
let org: OrgId;

/** This machine has sealed once, and another machine after it. */
beforeEach(async () => {
  store = new SlowStore();
  bench = new LedgerBench(store);
  progress = new HeldProgress();
  sealers = new RunningSealers(progress);
  await bench.activateKey();
  org = newOrg();
  await term(bench, [org]);
  // The last event that this machine has seen is in the stream of another organization.
  await term(new LedgerBench(store, bench.keys), [org, newOrg()]);
  expect(bench.heads.rows.get(org)?.seq).toBe(1);
});
afterEach(() => sealers.stop());

const recordedAndSealed = async (some: OrgId): Promise<void> => {
  const before = (await bench.ledgerOf(some)).length;
  await bench.recordAction(some);
  await vi.waitFor(async () => expect(await bench.ledgerOf(some)).toHaveLength(before + 1), SETTLED);
};

/** Runs a sealer on the machine until it has sealed an action of each organization, in turn. */
const term = async (machine: LedgerBench, orgs: readonly OrgId[]): Promise<void> => {
  sealers.start(machine);
  for (const one of orgs) await recordedAndSealed(one);
  await sealers.stop();
};

const isRememberedAnew = () => vi.waitFor(() => expect(bench.heads.rows.get(org)?.seq).toBe(2), SETTLED);

describe('a ledger in which another machine has sealed since', () => {
  it('delays no other organization when this machine takes over, and its head is remembered anew', async () => {
    const answered = deferred();
    store.mayAnswer = (stream) => (stream === streamOf('ledger', org) ? answered.promise : Promise.resolve());
    sealers.start(bench);
    const other = newOrg();
    await bench.recordAction(other);
    await vi.waitFor(() => expect(bench.heads.rows.get(other)?.seq).toBe(1), SETTLED);
    expect(bench.heads.rows.get(org)?.seq).toBe(1);
    answered.resolve();
    await isRememberedAnew();
  });

  it('is compared again once a store that was away answers', async () => {
    let refused = 0;
    store.mayAnswer = (stream) => {
      const isRefused = stream === streamOf('ledger', org) && (refused += 1) < 3;
      return isRefused ? Promise.reject(new StoreUnavailable('away')) : Promise.resolve();
    };
    sealers.start(bench);
    await isRememberedAnew();
  });

  it('is parked if it lacks the deed that this machine remembers', async () => {
    bench.heads.rows.set(org, { org, seq: 1, bodyHash: digestOf('another deed') });
    sealers.start(bench);
    await vi.waitFor(() => expect([...progress.rows.keys()]).toEqual([org]), SETTLED);
    expect(progress.rows.get(org)?.reason).toContain('went back in time');
  });
});
