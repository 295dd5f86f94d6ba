import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  EVENT_SCHEMA_VERSION,
  appendEvents,
  decodeEvent,
  ONLY_STREAM,
  StoreUnavailable,
  streamOf,
  type Append,
  type AppendResult,
  type OrgId,
  type ReadStreamOptions,
  type RecordedEvent,
  type SubscribeOptions,
  type Subscription,
} from '#libs/domain/kernel';
import { SealKeyAdministration, sealKeyDecider, type LedgerEvent } from '#libs/domain/ledger';
import { parseDeedBody } from '#libs/crypto';
import { MemoryEventStore } from '#libs/infra/event-store';
import { metadataAt, NOW } from '../../../../test/support/given.js';
import { HeldProgress, LedgerBench, newOrg } from '../../../../test/support/ledger-fixtures.js';
import { RunningSealers } from '../../../../test/support/running-sealers.js';

/** A log whose ledgers sometimes do not answer. Subscriptions get batches of any size. */
class FlakyStore extends MemoryEventStore {
  batchSize = 500;
  /** Called before every append to a ledger: returns what goes wrong with it. */
  mishap: (append: Append) => 'lost_request' | 'lost_answer' | Error | null = () => null;

  /** Returns the rows as somebody has changed them in the database. */
  tampered: (stream: string, events: readonly RecordedEvent[]) => readonly RecordedEvent[] = (_, events) => events;

  /** No deeds are written in the commit of their event here; accompanied-sealing.spec.ts tests those. */
  override accompany(): () => void {
    return () => undefined;
  }

  override async readStream(stream: string, options?: ReadStreamOptions): Promise<readonly RecordedEvent[]> {
    return this.tampered(stream, await super.readStream(stream, options));
  }

  override async append(append: Append): Promise<AppendResult> {
    const mishap = append.stream.startsWith('ledger-') ? this.mishap(append) : null;
    if (mishap instanceof Error) throw mishap;
    if (mishap === 'lost_request') throw new StoreUnavailable('the request was lost');
    const result = await super.append(append);
    if (mishap === 'lost_answer') throw new StoreUnavailable('the answer was lost');
    return result;
  }

  override subscribeToAll(options: SubscribeOptions): Subscription {
    return super.subscribeToAll({ ...options, batchSize: this.batchSize });
  }
}

const SETTLED = { timeout: 20_000, interval: 5 };

let store: FlakyStore;
let bench: LedgerBench;
let progress: HeldProgress;
let sealers: RunningSealers;

beforeEach(() => {
  store = new FlakyStore();
  bench = new LedgerBench(store);
  progress = new HeldProgress();
  sealers = new RunningSealers(progress);
});
afterEach(() => sealers.stop());

const start = (): void => sealers.start(bench);
const ledgerOf = async (org: OrgId): Promise<readonly LedgerEvent['data'][]> =>
  (await bench.ledgerOf(org)).map((recorded) => decodeEvent<LedgerEvent>(recorded).event.data);
const sealedStreams = async (org: OrgId): Promise<readonly (string | undefined)[]> =>
  (await bench.ledgerOf(org)).map((recorded) => decodeEvent(recorded).metadata.source?.stream);
const eventuallySealed = (org: OrgId, streams: readonly string[]) =>
  vi.waitFor(async () => expect(await sealedStreams(org)).toEqual(streams), SETTLED);
const adminActionsOf = async (org: OrgId) =>
  (await ledgerOf(org)).flatMap(({ body }) => parseDeedBody(Buffer.from(body)).admin?.action ?? []);
const makeOrganization = (org: OrgId): Promise<unknown> => {
  const made = { org, name: 'x', timezone: 'UTC', owner: 'usr_x', membership: 'mem_x', at: metadataAt().now };
  const event = { type: 'OrganizationCreated', data: made };
  return appendEvents(store, streamOf('org', org), 'no_stream', [event], {
    ...metadataAt(),
    org,
    commandId: `make ${org}`,
  });
};
/** Starts a sealer, and waits until each of two ledgers has the organization's own deed and an action's. */
const twoSealedOrganizations = async (): Promise<readonly [OrgId, OrgId]> => {
  const organizations = [newOrg(), newOrg()] as const;
  for (const org of organizations) await makeOrganization(org);
  start();
  for (const org of organizations) await bench.recordAction(org);
  for (const org of organizations) await vi.waitFor(async () => expect(await ledgerOf(org)).toHaveLength(2), SETTLED);
  return organizations;
};
const revoke = (kid: string): Promise<unknown> => {
  const metadata = { ...metadataAt(), org: null, commandId: `revoke ${kid}` };
  const command = { type: 'RevokeSealKey' as const, data: { kid, reason: null }, metadata };
  return bench.runner.run(sealKeyDecider, ONLY_STREAM, command, metadata);
};

describe('each recorded action gets exactly one deed, in the order of the log (INV-05)', () => {
  const batches = [1, 2, 3, 4, 7, 500];
  const mishaps = ['lost_request', 'lost_answer'] as const;

  it.each(batches.flatMap((size) => mishaps.map((mishap) => [size, mishap] as const)))(
    'in batches of %i, each ledger append having a %s first',
    async (size, mishap) => {
      await bench.activateKey();
      store.batchSize = size;
      const failed = new Set<string>();
      store.mishap = ({ stream, expectedRevision }) => {
        const place = `${stream} ${expectedRevision}`;
        if (failed.has(place)) return null;
        failed.add(place);
        return mishap;
      };
      start();
      const orgs = [newOrg(), newOrg()];
      const streams = new Map<OrgId, string[]>(orgs.map((org) => [org, []]));
      // The events of both organizations share batches, and a batch is delivered again if one ledger fails.
      for (let round = 0; round < 3; round += 1) {
        const recorded = await Promise.all(
          orgs.map((org) => bench.recordAction(org, round === 1 ? 'refused' : 'executed')),
        );
        orgs.forEach((org, index) => streams.get(org)?.push(recorded[index] as string));
      }
      for (const org of orgs) await eventuallySealed(org, streams.get(org) ?? []);
      expect(progress.rows.size).toBe(0);
    },
  );

  it('even if a batch is delivered again without the beginning of the action', async () => {
    await bench.activateKey();
    const [org, other] = [newOrg(), newOrg()];
    const first = await bench.recordAction(org, 'executed');
    const events = await bench.log();
    const finish = events.filter(({ stream }) => stream === first).length;
    // Cuts the log after each event of the action but the first. The part before the cut is delivered twice, the second
    // time without the action's beginning.
    for (let cut = 2; cut < finish; cut += 1) {
      const sealer = bench.sealer();
      const before = events.slice(0, events.length - finish + cut);
      await sealer.workIn(before);
      await sealer.workIn(before.slice(1 - cut));
      const works = await sealer.workIn(events.slice(-(finish - cut)));
      expect(works.get(org)?.requests).toHaveLength(1);
    }
    start();
    const second = await bench.recordAction(other);
    await eventuallySealed(org, [first]);
    await eventuallySealed(other, [second]);
  });
});

describe('an organization that cannot be sealed', () => {
  const damagedLedgerOf = (org: OrgId) => (append: Append) =>
    append.stream === streamOf('ledger', org) ? new Error('this ledger is damaged') : null;

  it('is parked, delays no other organization, and loses nothing', async () => {
    await bench.activateKey();
    const [org, other] = [newOrg(), newOrg()];
    store.mishap = damagedLedgerOf(org);
    start();
    const waiting = [await bench.recordAction(org, 'executed'), await bench.recordAction(org)];
    await eventuallySealed(other, [await bench.recordAction(other)]);
    await vi.waitFor(() => expect([...progress.rows.keys()]).toEqual([org]), SETTLED);
    waiting.push(await bench.recordAction(org, 'executed'));
    store.mishap = () => null;
    await eventuallySealed(org, waiting);
    await vi.waitFor(() => expect(progress.rows.size).toBe(0), SETTLED);
  });

  it('gets the deed of a seal key that was revoked meanwhile, at the right place in its ledger', async () => {
    const key = await bench.activateKey();
    const [org, other] = await twoSealedOrganizations();
    store.mishap = damagedLedgerOf(org);
    await bench.activateKey();
    await bench.recordAction(org);
    await revoke(key.publicKey.kid);
    await bench.recordAction(org);
    await vi.waitFor(async () => expect(await adminActionsOf(other)).toContain('seal_key.revoked'), SETTLED);
    await vi.waitFor(() => expect([...progress.rows.keys()]).toEqual([org]), SETTLED);
    store.mishap = () => null;
    await vi.waitFor(async () => expect(await ledgerOf(org)).toHaveLength(5), SETTLED);
    const kinds = (await ledgerOf(org)).map(({ kind }) => kind);
    expect(kinds).toEqual(['admin', 'action', 'action', 'admin', 'action']);
    expect(await adminActionsOf(org)).toEqual(['org.created', 'seal_key.revoked']);
  });

  it.each([
    ['an event of a type that this version does not know', 'ActionRescheduled', '{}'],
    ['an event that is no JSON', 'ExecutionFinished', '{'],
  ])(
    'because of %s is parked at that event, with everything before it sealed and no other one delayed',
    async (_, type, data) => {
      await bench.activateKey();
      const [org, other] = [newOrg(), newOrg()];
      const before = await bench.recordAction(org);
      const [first] = await store.readStream(before);
      const id = '00000000-0000-8000-8000-000000000001';
      const unreadable = { id, type, data, metadata: first?.metadata ?? '' };
      await store.append({ stream: before, expectedRevision: 1, events: [unreadable] });
      await bench.recordAction(org);
      start();
      await eventuallySealed(other, [await bench.recordAction(other)]);
      await vi.waitFor(() => expect([...progress.rows.keys()]).toEqual([org]), SETTLED);
      expect(await sealedStreams(org)).toEqual([before]);
    },
  );

  it.each([
    ['changes what it knows', 'agent-agt_one', 'AgentRenamed', 1],
    ['begins an action', 'action-act_one', 'ActionProposed', 1],
    ['is of a kind of stream that it does not know', 'mandate-mdt_one', 'MandateGiven', 1],
    ['is of a newer schema', 'agent-agt_two', 'AgentStopped', EVENT_SCHEMA_VERSION + 1],
  ])(
    'because of an event of a newer version that %s is parked, as that version may give the event a deed',
    async (_, stream, type, schema) => {
      await bench.activateKey();
      const [org, other] = [newOrg(), newOrg()];
      const before = await bench.recordAction(org);
      const metadata = JSON.stringify({ org, actor: { type: 'system', id: null }, schema, at: NOW });
      const event = { id: '00000000-0000-8000-8000-000000000001', type, data: '{}', metadata };
      await store.append({ stream, expectedRevision: 'no_stream', events: [event] });
      await bench.recordAction(org);
      start();
      await eventuallySealed(other, [await bench.recordAction(other)]);
      await vi.waitFor(() => expect([...progress.rows.keys()]).toEqual([org]), SETTLED);
      expect(await sealedStreams(org)).toEqual([before]);
    },
  );

  it('stays parked by the sealer that took over, even if a frozen sealer wakes (F-02)', async () => {
    await bench.activateKey();
    const org = newOrg();
    start();
    await eventuallySealed(org, [await bench.recordAction(org)]);
    // Another sealer took over and parked the organization.
    const row = {
      org,
      storeId: await store.storeId(),
      after: 0n,
      since: '2026-10-01T00:00:00.000Z',
      reason: 'unreadable',
    };
    await progress.park(row);
    const sweeps = sealers.sweepsEnded;
    await vi.waitFor(() => expect(sealers.sweepsEnded).toBeGreaterThan(sweeps + 2), SETTLED);
    expect(progress.rows.get(org)).toBe(row);
  });
});

describe('an organization whose ledger went back in time (rule DEED-14)', () => {
  it('is parked before anything is to be sealed in it, and sealed again once its deeds are back', async () => {
    await bench.activateKey();
    const [org, other] = [newOrg(), newOrg()];
    start();
    const streams = [await bench.recordAction(org), await bench.recordAction(org)];
    await eventuallySealed(org, streams);
    await sealers.stop();
    const heads = store.heads.bind(store);
    const lost = vi.spyOn(store, 'heads').mockImplementation(async (names) => {
      const found = new Map(await heads(names));
      if (found.has(streamOf('ledger', org))) found.set(streamOf('ledger', org), 0);
      return found;
    });
    start();
    await vi.waitFor(() => expect([...progress.rows.keys()]).toEqual([org]), SETTLED);
    expect(progress.rows.get(org)?.reason).toContain('went back in time');
    // Even without new events, the sweeps do not unpark the organization.
    const sweeps = sealers.sweepsEnded;
    await vi.waitFor(() => expect(sealers.sweepsEnded).toBeGreaterThan(sweeps + 2), SETTLED);
    expect([...progress.rows.keys()]).toEqual([org]);
    streams.push(await bench.recordAction(org));
    await eventuallySealed(other, [await bench.recordAction(other)]);
    expect(await sealedStreams(org)).toEqual(streams.slice(0, 2));
    lost.mockRestore();
    await eventuallySealed(org, streams);
    await vi.waitFor(() => expect(progress.rows.size).toBe(0), SETTLED);
  });
});

describe('rows that were tampered with affect only their own organization', () => {
  it('the event that a ledger’s last deed names is gone: that organization is parked, the others are sealed', async () => {
    await bench.activateKey();
    const [org, other] = [newOrg(), newOrg()];
    start();
    const gone = await bench.recordAction(org);
    await eventuallySealed(org, [gone]);
    await sealers.stop();
    store.tampered = (stream, events) => (stream === gone ? [] : events);
    await bench.recordAction(org);
    const stream = await bench.recordAction(other, 'executed');
    start();
    await eventuallySealed(other, [stream]);
    await vi.waitFor(() => expect([...progress.rows.keys()]).toEqual([org]), SETTLED);
    expect(await sealedStreams(org)).toEqual([gone]);
  });

  it('an old deed cannot be read when a seal key is revoked: the other organizations get their deed of the revocation', async () => {
    const key = await bench.activateKey();
    const [org, other] = await twoSealedOrganizations();
    await bench.activateKey();
    await bench.recordAction(org);
    await vi.waitFor(async () => expect(await ledgerOf(org)).toHaveLength(3), SETTLED);
    const damaged = streamOf('ledger', org);
    store.tampered = (stream, events) =>
      stream === damaged ? events.map((event) => (event.revision < 2 ? { ...event, data: '{' } : event)) : events;
    await revoke(key.publicKey.kid);
    await bench.recordAction(other);
    await vi.waitFor(async () => expect(await adminActionsOf(other)).toContain('seal_key.revoked'), SETTLED);
    await vi.waitFor(async () => expect(await ledgerOf(other)).toHaveLength(4), SETTLED);
    await vi.waitFor(() => expect([...progress.rows.keys()]).toEqual([org]), SETTLED);
  });
});

describe('a sealer that starts', () => {
  it('continues from the low-water of the previous sealer', async () => {
    await bench.activateKey();
    const org = newOrg();
    start();
    const streams = [await bench.recordAction(org), await bench.recordAction(org, 'executed')];
    await eventuallySealed(org, streams);
    await sealers.stop();
    const position = await store.head();
    expect(progress.low?.position).toBe(position);
    streams.push(await bench.recordAction(org, 'executed'));
    const read = vi.spyOn(store, 'readAll');
    start();
    await eventuallySealed(org, streams);
    expect(read.mock.calls[0]?.[0]).toBe(position);
  });

  it('moves the low-water to the end of the log at rest, which shows that all is sealed', async () => {
    await bench.activateKey();
    const org = newOrg();
    start();
    await eventuallySealed(org, [await bench.recordAction(org)]);
    await vi.waitFor(async () => expect(progress.low?.position).toBe(await store.head()), SETTLED);
  });

  it('reads the whole log if the low-water belongs to another log', async () => {
    await bench.activateKey();
    const org = newOrg();
    const stream = await bench.recordAction(org);
    const event = { stream, revision: 1, event_id: 'of another log' };
    progress.low = { storeId: 'another', position: await store.head(), event };
    start();
    await eventuallySealed(org, [stream]);
  });
});

describe('without a key', () => {
  it('all organizations wait, until the next key is active', async () => {
    const orgs = [newOrg(), newOrg()];
    start();
    const streams = await Promise.all(orgs.map((org) => bench.recordAction(org, 'executed')));
    const keys = new SealKeyAdministration(bench.runner, bench.streams, bench.keys);
    const metadata = (commandId: string) => ({ ...metadataAt(), org: null, commandId });
    const { kid } = await keys.register(metadata('register'));
    const isProven = async () => (await keys.list()).some((key) => key.provenAt !== null);
    await vi.waitFor(async () => expect(await isProven()).toBe(true), SETTLED);
    expect(await Promise.all(orgs.map(sealedStreams))).toEqual([[], []]);
    await keys.activate(kid, { overlapMs: 60_000, sealedUntil: null }, metadata('activate'));
    await Promise.all(orgs.map((org, index) => eventuallySealed(org, [streams[index] as string])));
    expect(progress.rows.size).toBe(0);
  });
});
