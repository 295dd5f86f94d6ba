import { beforeEach, describe, expect, it, vi } from 'vitest';
import { appendEvents, ONLY_STREAM, type OrgId, type RecordedEvent } from '#libs/domain/kernel';
import { LedgerTails, sealKeyDecider, UnsealedEvents } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { metadataAt } from '../support/given.js';
import { HeldProgress, LedgerBench, newOrg } from '../support/ledger-fixtures.js';
import { newEvent } from '../support/new-event.js';

let bench: LedgerBench;
let kid: string;
let progress: HeldProgress;
let unsealed: UnsealedEvents;
let org: OrgId;
beforeEach(async () => {
  bench = new LedgerBench(new MemoryEventStore());
  // The first call records the store id in the log, so it is made before the events of the test.
  await bench.store.storeId();
  kid = (await bench.activateKey()).publicKey.kid;
  progress = new HeldProgress();
  unsealed = newUnsealed();
  org = newOrg();
});

const newUnsealed = (): UnsealedEvents => new UnsealedEvents(bench.store, progress, new LedgerTails(bench.store));

interface Waiting {
  readonly org: OrgId | null;
  readonly stream: string;
}

const waiting = async (
  endsBefore: (recorded: RecordedEvent) => boolean = () => false,
  from = unsealed,
): Promise<readonly Waiting[]> => {
  const found: Waiting[] = [];
  for await (const each of from.inOrder({ upTo: await bench.store.head(), endsBefore })) {
    found.push({ org: each.org, stream: each.recorded.stream });
  }
  return found;
};

const sealAll = async (): Promise<void> => bench.feed(bench.sealer(), await bench.log());

/** Sets the low-water as a sealer that has come to this event would. */
const lowWaterAt = async (recorded: RecordedEvent | undefined, storeId?: string): Promise<void> => {
  const { stream, revision, id, position } = recorded!;
  const event = { stream, revision, event_id: id };
  await progress.setLowWater({ storeId: storeId ?? (await bench.store.storeId()), position, event });
};

const foreign = async (metadata: string): Promise<void> => {
  const events = [newEvent({ type: 'OrderPlaced', metadata })];
  await bench.store.append({ stream: 'orders-1', expectedRevision: 'no_stream', events });
};

const organizationCreated = async (): Promise<string> => {
  const data = { org, name: 'Canary', timezone: 'UTC', owner: 'usr_one' };
  await appendEvents(bench.store, `org-${org}`, 'no_stream', [{ type: 'OrganizationCreated', data }], {
    ...metadataAt(),
    org,
  });
  return `org-${org}`;
};

describe('an event that waits for its deed', () => {
  it('is each outcome and each change, in the order of the log, until it is sealed', async () => {
    const streams = [
      await organizationCreated(),
      await bench.recordAction(org),
      await bench.recordAction(newOrg(), 'executed'),
    ];
    expect((await waiting()).map(({ stream }) => stream)).toEqual(streams);
    expect((await waiting())[0]?.org).toBe(org);
    await sealAll();
    expect(await waiting()).toEqual([]);
    const later = await bench.recordAction(org);
    expect(await waiting()).toEqual([{ org, stream: later }]);
  });

  it('is never an event that asks for no deed', async () => {
    const stream = await bench.recordAction(org, 'executed');
    await sealAll();
    // Events that ask for no deed: the beginning of an action, deeds, seal keys, people.
    const [submitted] = await bench.store.readStream(stream);
    const events = [newEvent({ type: submitted!.type, data: submitted!.data, metadata: submitted!.metadata })];
    await bench.store.append({ stream: 'action-act_begun', expectedRevision: 'no_stream', events });
    await bench.activateKey();
    expect(await waiting()).toEqual([]);
  });

  it('is only searched after the low-water', async () => {
    await bench.recordAction(org);
    await lowWaterAt((await bench.log()).at(-1));
    const reads = vi.spyOn(bench.store, 'readAll');
    expect(await waiting()).toEqual([]);
    expect(reads).not.toHaveBeenCalled();
    const stream = await bench.recordAction(org);
    expect(await waiting()).toEqual([{ org, stream }]);
  });

  it('is searched in the whole log if the low-water belongs to another store', async () => {
    await bench.recordAction(newOrg());
    await sealAll();
    const stream = await bench.recordAction(org);
    await lowWaterAt((await bench.log()).at(-1), 'another store');
    expect(await waiting()).toEqual([{ org, stream }]);
  });

  it('is searched in the whole log if the low-water is at no event of it', async () => {
    const stream = await bench.recordAction(org);
    const last = (await bench.log()).at(-1)!;
    for (const lost of [
      { ...last, position: last.position + 100_000n },
      { ...last, id: 'another event' },
      { ...last, revision: last.revision + 1 },
    ]) {
      await lowWaterAt(lost);
      expect(await waiting(undefined, newUnsealed())).toEqual([{ org, stream }]);
    }
  });

  it.each(['', 'null', '{}', '{"org":7}'])(
    'may name no organization, and then nothing after it is sealed for anybody: %s',
    async (metadata) => {
      await foreign(metadata);
      const stream = await bench.recordAction(org);
      expect(await waiting()).toEqual([
        { org: null, stream: 'orders-1' },
        { org, stream },
      ]);
      const { value } = await unsealed.inOrder({ upTo: await bench.store.head(), endsBefore: () => false }).next();
      expect(value).toMatchObject({ fault: { name: 'EventWithoutOrganization' } });
    },
  );

  it('may be of a newer version, because this version cannot tell whether it asks for a deed', async () => {
    const metadata = { ...metadataAt(), org, actor: { type: 'system' as const, id: null } };
    await appendEvents(bench.store, `org-${org}`, 'no_stream', [{ type: 'OrganizationMoved', data: {} }], metadata);
    expect(await waiting()).toEqual([{ org, stream: `org-${org}` }]);
  });

  it('may be the revocation of a seal key until the sealer has passed it', async () => {
    await bench.recordAction(org);
    await sealAll();
    const metadata = { ...metadataAt(), org: null, commandId: 'revoke' };
    const command = { type: 'RevokeSealKey' as const, data: { kid, reason: null }, metadata };
    await lowWaterAt((await bench.log()).at(-1));
    await bench.runner.run(sealKeyDecider, ONLY_STREAM, command, metadata);
    expect(await waiting()).toEqual([{ org: null, stream: 'sealkeys' }]);
    await lowWaterAt((await bench.log()).at(-1));
    expect(await waiting()).toEqual([]);
  });

  it('is searched up to the event given by endsBefore, which is not examined', async () => {
    const first = await bench.recordAction(org);
    const second = await bench.recordAction(org);
    expect(await waiting(({ stream }) => stream === second)).toEqual([{ org, stream: first }]);
    expect(await waiting(() => true)).toEqual([]);
  });

  it('is not searched twice where nothing waits, and is found wherever an earlier search ended', async () => {
    await bench.recordAction(newOrg());
    await sealAll();
    const stream = await bench.recordAction(org);
    expect(await waiting((recorded) => recorded.stream === stream)).toEqual([]);
    const seen: string[] = [];
    const look = (recorded: RecordedEvent): boolean => {
      seen.push(recorded.stream);
      return false;
    };
    expect(await waiting(look)).toEqual([{ org, stream }]);
    expect(await waiting(look)).toEqual([{ org, stream }]);
    expect([...new Set(seen)]).toEqual([stream]);
  });

  it('is found by reading the end of each ledger once per search', async () => {
    for (let count = 0; count < 40; count += 1) await bench.recordAction(org);
    const heads = vi.spyOn(bench.store, 'heads');
    expect(await waiting()).toHaveLength(40);
    expect(heads).toHaveBeenCalledTimes(1);
  });

  it('is skipped for known organizations, without counting as sealed', async () => {
    const stream = await bench.recordAction(org);
    const other = newOrg();
    await bench.recordAction(other);
    const upTo = await bench.store.head();
    const look = unsealed.inOrder({ upTo, endsBefore: () => false, isKnown: (whose) => whose === org });
    expect((await look.next()).value).toMatchObject({ org: other });
    expect(await waiting()).toContainEqual({ org, stream });
  });
});
