import { beforeEach, describe, expect, it } from 'vitest';
import {
  EVENT_SCHEMA_VERSION,
  decodeEvent,
  START,
  streamOf,
  type DepartingAppends,
  type NewEvent,
  type OrgId,
  type Position,
  type RecordedEvent,
} from '#libs/domain/kernel';
import { ActionsInFlight, departingRequest, type SealRequest } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';
import { newEvent } from '../support/new-event.js';

let bench: LedgerBench;
let org: OrgId;
beforeEach(() => {
  bench = new LedgerBench(new MemoryEventStore());
  org = newOrg();
});

/**
 * How many events at the end of the log depart, how far the sealer has seen the log, and how far the organization is
 * sealed.
 */
interface Scene {
  readonly departing: number;
  readonly seenUpTo?: Position;
  readonly sealedUpTo?: Position | null;
  readonly isKnown?: boolean;
}

const requestIn = async ({
  departing,
  seenUpTo,
  sealedUpTo = START,
  isKnown = true,
}: Scene): Promise<SealRequest | null> => {
  const log = await bench.log();
  const [before, events] = [log.slice(0, -departing), log.slice(-departing)];
  const appends: DepartingAppends = {
    events,
    since: (position) => (isKnown ? before.filter((event) => event.position > position) : null),
    beginningOf: (stream, count) => {
      const known = before.filter((event) => event.stream === stream);
      return known.length === count ? known : null;
    },
  };
  const end = before.at(-1)?.position ?? START;
  return departingRequest(appends, {
    seenUpTo: seenUpTo ?? end,
    sealedUpTo: () => sealedUpTo,
    actionBefore: () => null,
  });
};
/** The position of the last event in the log. */
const end = async (): Promise<Position> => ((await bench.log()).at(-1) as RecordedEvent).position;

describe('the deed that departing events ask for', () => {
  it('is the deed of an outcome whose action began before', async () => {
    const stream = await bench.recordAction(org, 'executed');
    const request = await requestIn({ departing: 2 });
    expect(request?.source).toMatchObject({ stream, revision: 5 });
    expect(request?.org).toBe(org);
    expect(request?.sections.execution?.status).toBe('succeeded');
  });

  it('is the deed of a refusal whose action begins with it', async () => {
    const stream = await bench.recordAction(org, 'refused');
    expect((await requestIn({ departing: 2 }))?.source).toMatchObject({ stream, revision: 1 });
  });

  it('is none if no action ends', async () => {
    await bench.recordAction(org, 'executed');
    const log = await bench.log();
    const begun = new LedgerBench(new MemoryEventStore());
    for (const event of log.slice(0, 4)) {
      const { stream, revision } = event;
      await begun.store.append({
        stream,
        expectedRevision: revision === 0 ? 'no_stream' : revision - 1,
        events: [event],
      });
    }
    bench = begun;
    expect(await requestIn({ departing: 4 })).toBeNull();
  });

  it('is none for a deed itself', async () => {
    await bench.activateKey();
    const sealer = bench.sealer();
    await bench.recordAction(org, 'refused');
    await bench.feed(sealer, await bench.log());
    expect((await bench.log()).at(-1)?.stream).toBe(streamOf('ledger', org));
    expect(await requestIn({ departing: 1 })).toBeNull();
  });

  it('is sealed afterwards if several deeds are due', async () => {
    await bench.recordAction(org, 'refused');
    await bench.recordAction(newOrg(), 'refused');
    expect(await requestIn({ departing: 4 })).toBeNull();
  });

  it('is sealed afterwards if seal keys change in the same call', async () => {
    await bench.recordAction(org, 'refused');
    const change = newEvent({ type: 'SealKeyRevoked', metadata: '{"org":null,"schema":1}' });
    await bench.store.append({ stream: 'sealkeys', expectedRevision: 'no_stream', events: [change] });
    expect(await requestIn({ departing: 3 })).toBeNull();
  });

  it('is sealed afterwards if the beginning of the action is not known', async () => {
    await bench.recordAction(org, 'executed');
    expect(await requestIn({ departing: 1 })).not.toBeNull();
    const [, ...rest] = await bench.log();
    const appends: DepartingAppends = { events: rest.slice(-2), since: () => [], beginningOf: () => null };
    const sealed = { seenUpTo: START, sealedUpTo: () => START, actionBefore: () => null };
    expect(departingRequest(appends, sealed)).toBeNull();
  });

  it('is made from the action in the sealer’s memory, however long ago it began', async () => {
    await bench.recordAction(org, 'executed');
    const whole = await requestIn({ departing: 2 });
    const log = await bench.log();
    const [begun, own] = [log.slice(0, -2), log.slice(-2)];
    const inFlight = new ActionsInFlight();
    for (const event of begun) inFlight.after(decodeEvent(event));
    const appends: DepartingAppends = { events: own, since: () => [], beginningOf: () => null };
    const actionBefore = (event: RecordedEvent) => inFlight.before(event);
    expect(departingRequest(appends, { seenUpTo: START, sealedUpTo: () => START, actionBefore })).toEqual({
      ...whole,
      firstSections: expect.any(Function) as unknown,
    });
  });
});

describe('an event before the deed’s own event in the log', () => {
  it('is sealed first if it belongs to the same organization', async () => {
    const begin = await bench.recordAction(org, 'refused').then(end);
    await bench.recordAction(org, 'refused');
    expect(await requestIn({ departing: 2, seenUpTo: START })).toBeNull();
    expect(await requestIn({ departing: 2, seenUpTo: begin })).not.toBeNull();
    expect(await requestIn({ departing: 2, seenUpTo: START, sealedUpTo: begin })).not.toBeNull();
  });

  it('does not matter if it belongs to another organization', async () => {
    await bench.recordAction(newOrg(), 'refused');
    await bench.recordAction(org, 'refused');
    expect(await requestIn({ departing: 2, seenUpTo: START })).not.toBeNull();
  });

  it('is handled first if it is about seal keys', async () => {
    const before = await bench.recordAction(newOrg(), 'refused').then(end);
    await bench.activateKey();
    await bench.recordAction(org, 'refused');
    expect(await requestIn({ departing: 2, seenUpTo: before })).toBeNull();
  });

  it.each([
    ['an action by an event of a type that this version does not know', { type: 'ActionCancelled' }],
    ['an action by an event that nobody can read', { metadata: 'no JSON' }],
    ['an event of a newer schema', { type: 'LateReport', schema: EVENT_SCHEMA_VERSION + 1 }],
  ])('comes first where it may seal %s', async (_, change: Partial<NewEvent> & { schema?: number }) => {
    const { type = 'LateReport', schema = 1, ...changes } = change;
    const before = await bench.recordAction(newOrg(), 'refused').then(end);
    const metadata = JSON.stringify({ org, causation: 'c', schema });
    const unknown = newEvent({ type, metadata, ...changes });
    await bench.store.append({ stream: 'action-x', expectedRevision: 'no_stream', events: [unknown] });
    await bench.recordAction(org, 'refused');
    expect(await requestIn({ departing: 2, seenUpTo: before })).toBeNull();
    const seen = await end();
    expect(await requestIn({ departing: 2, seenUpTo: seen - 2n })).not.toBeNull();
  });

  it('must be known to the process, or the deed waits', async () => {
    await bench.recordAction(org, 'refused');
    expect(await requestIn({ departing: 2, isKnown: false })).toBeNull();
  });

  it('must be one of few, because a sealer that is far behind is busy with them', async () => {
    for (let made = 0; made < 33; made += 1) await bench.recordAction(newOrg(), 'refused');
    await bench.recordAction(org, 'refused');
    expect(await requestIn({ departing: 2, seenUpTo: START })).toBeNull();
    expect(await requestIn({ departing: 2, seenUpTo: 1n })).not.toBeNull();
  });

  it('does not matter if nothing can be sealed at the moment', async () => {
    await bench.recordAction(org, 'refused');
    expect(await requestIn({ departing: 2, sealedUpTo: null })).toBeNull();
  });
});
