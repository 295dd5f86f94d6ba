import { beforeEach, describe, expect, it, vi } from 'vitest';
import { LedgerTails, UnsealedEvents } from '#libs/domain/ledger';
import { HeldProgress, LedgerBench, newOrg } from '../../../../test/support/ledger-fixtures.js';
import { after, NOW } from '../../../../test/support/given.js';
import { MemoryEventStore } from '../event-store/index.js';
import { PolledSealingBacklog } from './polled-sealing-backlog.js';

const LIMIT_MS = 900_000;

let bench: LedgerBench;
let progress: HeldProgress;
let backlog: PolledSealingBacklog;

beforeEach(async () => {
  bench = new LedgerBench(new MemoryEventStore());
  await bench.activateKey();
  progress = new HeldProgress();
  backlog = newBacklog();
});

const newBacklog = (): PolledSealingBacklog => {
  const unsealed = new UnsealedEvents(bench.store, progress, new LedgerTails(bench.store));
  return new PolledSealingBacklog(bench.store, progress, unsealed, bench.clock, LIMIT_MS);
};

const at = (ms: number): void => {
  bench.clock.ms = Date.parse(after(ms));
};

describe('the age of the oldest outcome that waits for its deed (rule GATE-9)', () => {
  it('is reported once it exceeds the limit', async () => {
    const org = newOrg();
    await bench.recordAction(org, 'executed');
    at(LIMIT_MS - 1);
    await backlog.refresh();
    expect(backlog.oldestUnsealedAgeMs(org)).toBe(0);
    at(LIMIT_MS);
    await backlog.refresh();
    expect(backlog.oldestUnsealedAgeMs(org)).toBe(LIMIT_MS);
  });

  it('is 0 if all is sealed, and for other organizations', async () => {
    const [org, other] = [newOrg(), newOrg()];
    await bench.recordAction(org);
    await bench.feed(bench.sealer(), await bench.log());
    await bench.recordAction(other);
    at(2 * LIMIT_MS);
    await backlog.refresh();
    expect([org, other].map((each) => backlog.oldestUnsealedAgeMs(each))).toEqual([0, 2 * LIMIT_MS]);
  });

  it('counts from the time when an organization was parked', async () => {
    const org = newOrg();
    await progress.park({ org, storeId: await bench.store.storeId(), after: -1n, since: NOW, reason: 'damaged' });
    at(60_000);
    await backlog.refresh();
    expect(backlog.oldestUnsealedAgeMs(org)).toBe(60_000);
  });

  it('counts events that cannot be folded and therefore not sealed', async () => {
    const org = newOrg();
    const stream = await bench.recordAction(org);
    await bench.feed(bench.sealer(), await bench.log());
    const [first] = await bench.store.readStream(stream);
    const id = '00000000-0000-8000-8000-000000000001';
    const unknown = { id, type: 'ActionRescheduled', data: '{}', metadata: first?.metadata ?? '' };
    await bench.store.append({ stream, expectedRevision: 1, events: [unknown] });
    at(LIMIT_MS);
    await backlog.refresh();
    expect(backlog.oldestUnsealedAgeMs(org)).toBe(LIMIT_MS);
  });

  it('counts an organization whose ledger names a missing event, and the others as well', async () => {
    const [org, other] = [newOrg(), newOrg()];
    const gone = await bench.recordAction(org);
    await bench.feed(bench.sealer(), await bench.log());
    const read = bench.store.readStream.bind(bench.store);
    vi.spyOn(bench.store, 'readStream').mockImplementation(async (stream, options) =>
      stream === gone ? [] : read(stream, options),
    );
    await bench.recordAction(other);
    at(LIMIT_MS);
    const fresh = newBacklog();
    await fresh.refresh();
    expect([org, other].map((each) => fresh.oldestUnsealedAgeMs(each))).toEqual([LIMIT_MS, LIMIT_MS]);
  });

  it('is read once for all callers of the same moment', async () => {
    const parked = vi.spyOn(progress, 'parked');
    await Promise.all([backlog.refresh(), backlog.refresh()]);
    expect(parked).toHaveBeenCalledTimes(1);
    await backlog.refresh();
    expect(parked).toHaveBeenCalledTimes(2);
  });
});
