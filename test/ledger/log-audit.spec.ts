import { beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import {
  appendEvents,
  decodeEvent,
  eventIdOf,
  ONLY_STREAM,
  streamOf,
  timestampOf,
  uuidOfHash,
  type OrgId,
  type EventStore,
  type RecordedEvent,
} from '#libs/domain/kernel';
import {
  LogAudit,
  revocationWork,
  sealKeyDecider,
  type AuditVerdict,
  type LedgerEvent,
  type SealKeyEvent,
} from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { sealAtOnce } from '../../libs/crypto/src/testing/seal-at-once.js';
import { after, metadataAt, NOW } from '../support/given.js';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';

type Revoked = Extract<SealKeyEvent, { type: 'SealKeyRevoked' }>;

const org = newOrg();
const other = newOrg();
let bench: LedgerBench;
let log: readonly RecordedEvent[];

const makeOrganization = async (id: OrgId): Promise<void> => {
  const made = { org: id, name: 'x', timezone: 'UTC', owner: 'usr_x', membership: 'mem_x', at: NOW };
  const metadata = { ...metadataAt(), org: id, commandId: `make ${id}` };
  await appendEvents(
    bench.store,
    streamOf('org', id),
    'no_stream',
    [{ type: 'OrganizationCreated', data: made }],
    metadata,
  );
};

/**
 * A log of two organizations, with actions that ran and actions that were refused, and a seal key that was revoked in
 * the middle.
 */
beforeAll(async () => {
  bench = new LedgerBench(new MemoryEventStore());
  const first = await bench.activateKey();
  for (const each of [org, other]) {
    await makeOrganization(each);
    await bench.recordAction(each, 'executed');
    await bench.recordAction(each);
  }
  await bench.feed(bench.sealer(), await bench.log());
  const metadata = { ...metadataAt(), org: null, commandId: 'revoke' };
  const revoke = { type: 'RevokeSealKey' as const, data: { kid: first.publicKey.kid, reason: 'lost' }, metadata };
  await bench.runner.run(sealKeyDecider, ONLY_STREAM, revoke, metadata);
  bench.clock.ms += 1_000;
  await bench.activateKey(timestampOf(bench.clock.ms));
  const revoked = (await bench.log()).find(({ type }) => type === 'SealKeyRevoked') as RecordedEvent;
  for (const [each, { requests }] of await revocationWork(bench.store, decodeEvent<Revoked>(revoked), NOW)) {
    await bench.sealer().seal(each, requests);
  }
  await bench.recordAction(org, 'executed');
  await bench.recordAction(other);
  await bench.feed(bench.sealer(), await bench.log());
  log = await bench.log();
});

const audit = (
  events: readonly RecordedEvent[],
  only: OrgId | null = null,
  isNext?: EventStore['isNext'],
): AuditVerdict => {
  const running = new LogAudit(only, isNext);
  for (const event of events) running.step(event);
  return running.verdict();
};
const isNextOfGapless: EventStore['isNext'] = (end, position) => position === end + 1n;
const codes = (verdict: AuditVerdict): readonly string[] => verdict.faults.map(({ code }) => code);
const changed = (index: number, change: Partial<RecordedEvent>): readonly RecordedEvent[] =>
  log.map((event, at) => (at === index ? { ...event, ...change } : event));
/** The log with one event changed and its id made to fit, as a forger who knows how ids are made would do. */
const forged = (index: number, change: Partial<RecordedEvent>): readonly RecordedEvent[] => {
  const event = { ...(log[index] as RecordedEvent), ...change };
  return changed(index, { ...change, id: eventIdOf(event) });
};
const indexOf = (type: string, from = 0): number => log.findIndex((event, at) => at >= from && event.type === type);

describe('an audit of a log that nobody touched', () => {
  it('finds every deed the same as made from the log', () => {
    expect(audit(log)).toEqual({
      events: log.length,
      deeds: 10,
      payloads: 0,
      unsealed: 0,
      payloadsRemoved: 0,
      unsealedSince: null,
      faultCount: 0,
      faults: [],
    });
  });

  it('finds no hole if the store leaves out no position', () => {
    expect(audit(log, null, isNextOfGapless).faultCount).toBe(0);
  });

  it('compares only one organization if it is limited to that', () => {
    expect(audit(log, org)).toMatchObject({ events: log.length, deeds: 5, faultCount: 0 });
  });

  it('counts the outcomes that are not sealed yet, and since when they wait', () => {
    const last = log.findLastIndex(({ stream }) => stream.startsWith('ledger-'));
    expect(audit(log.slice(0, last))).toMatchObject({ deeds: 9, unsealed: 1, unsealedSince: NOW, faultCount: 0 });
  });
});

describe('an audit finds', () => {
  const facts = (): readonly number[] =>
    log.flatMap(({ stream }, index) => (stream.startsWith('ledger-') ? [] : [index]));
  const deeds = (): readonly number[] =>
    log.flatMap(({ stream }, index) => (stream.startsWith('ledger-') ? [index] : []));

  it.each([
    ['data', (event: RecordedEvent) => ({ data: `${event.data} ` })],
    ['metadata', (event: RecordedEvent) => ({ metadata: `${event.metadata} ` })],
    ['type', () => ({ type: 'Renamed' })],
    ['id', () => ({ id: '00000000-0000-8000-8000-000000000000' })],
  ])('every fact whose %s was changed in place', (_, change) => {
    for (const index of facts()) {
      expect(codes(audit(changed(index, change(log[index] as RecordedEvent))))).toContain('event_altered');
    }
  });

  it('every member of every deed that was changed in place', () => {
    for (const index of deeds()) {
      const stored = JSON.parse((log[index] as RecordedEvent).data) as Record<string, unknown>;
      for (const member of Object.keys(stored)) {
        const data = JSON.stringify({ ...stored, [member]: member === 'seq' ? 77 : 'other' });
        expect([member, audit(changed(index, { data })).faultCount]).not.toEqual([member, 0]);
      }
    }
  });

  it('any change of any member of any event, and never crashes because of it', () => {
    const parts = log.flatMap((event, index) =>
      (['data', 'metadata'] as const).map((part) => ({ index, event, part, text: event[part] })),
    );
    for (const { index, event, part, text } of parts) {
      expect(audit(changed(index, { [part]: 'null' })).faultCount).toBeGreaterThan(0);
      const members = JSON.parse(text) as Record<string, unknown>;
      const changes = Object.keys(members).map((member) =>
        JSON.stringify({ ...members, [member]: members[member] === null ? {} : null }),
      );
      const unseen = changes.filter((other) => audit(changed(index, { [part]: other })).faultCount === 0);
      expect([event.type, part, unseen]).toEqual([event.type, part, []]);
    }
  });

  it('every deed whose type was changed', () => {
    for (const index of deeds()) {
      for (const type of ['Renamed', 'PersonCreated']) {
        expect(codes(audit(changed(index, { type })))).toContain('deed_differs');
      }
    }
  });

  it('every missing event but the last, if the store leaves out no position', () => {
    for (let index = 0; index < log.length - 1; index += 1) {
      expect(codes(audit(log.toSpliced(index, 1), null, isNextOfGapless))).toContain('event_missing');
    }
  });

  /** The log as a database returns it after somebody exchanged the positions of two neighbouring events. */
  const exchanged = (index: number): readonly RecordedEvent[] => {
    const [one, other] = log.slice(index, index + 2) as [RecordedEvent, RecordedEvent];
    return log.toSpliced(index, 2, { ...other, position: one.position }, { ...one, position: other.position });
  };

  it('that an event was exchanged with its follower: the next one of its stream, or its deed', () => {
    const following = log.slice(1).flatMap((event, before) => {
      const { source } = JSON.parse(event.metadata) as { source?: { event_id: string } };
      const previous = log[before] as RecordedEvent;
      return event.stream === previous.stream || source?.event_id === previous.id ? [before] : [];
    });
    expect(following.length).toBeGreaterThan(10);
    for (const index of following)
      expect([index, audit(exchanged(index), null, isNextOfGapless).faultCount]).not.toEqual([index, 0]);
  });

  /** The log with an event added at the end of the log and of a stream, with the id for that place. */
  const added = (stream: string, like: RecordedEvent, before = log): readonly RecordedEvent[] => {
    const { revision } = before.findLast((event) => event.stream === stream) as RecordedEvent;
    const { position } = before.at(-1) as RecordedEvent;
    const event = { ...like, stream, revision: revision + 1, position: position + 1n };
    return [...before, { ...event, id: eventIdOf(event) }];
  };

  it('every event that was added to an action that is over', () => {
    const actions = [...new Set(log.map(({ stream }) => stream).filter((stream) => stream.startsWith('action-')))];
    expect(actions).toHaveLength(6);
    for (const stream of actions) {
      const events = log.filter((event) => event.stream === stream);
      for (const event of events) {
        const { faults } = audit(added(stream, event), null, isNextOfGapless);
        const place = {
          code: 'event_unexpected',
          org: null,
          stream,
          revision: events.length,
          kind: null,
          digest: null,
        };
        expect([event.type, faults]).toEqual([event.type, [place]]);
      }
    }
  });

  it('a repeated event that was added to an action that goes on', () => {
    const before = log.slice(0, indexOf('ExecutionStarted') + 1);
    const { stream } = before.at(-1) as RecordedEvent;
    const had = before.filter((event) => event.stream === stream && event.type !== 'ExecutionStarted');
    expect(had.map(({ type }) => type)).toEqual(['ActionSubmitted', 'ActionDecided', 'ExecutionReady']);
    for (const event of had)
      expect(codes(audit(added(stream, event, before), null, isNextOfGapless))).toEqual(['event_unexpected']);
  });

  it('an event of an action in the stream of another, or of another organization', () => {
    const index = log.findIndex(({ type, stream }) => type === 'ActionDecided' && stream.startsWith('action-'));
    const event = log[index] as RecordedEvent;
    const elsewhere = event.data.replace(/act_[0-9a-z]{26}/, 'act_00000000000000000000000001');
    expect(codes(audit(forged(index, { data: elsewhere })))).toContain('event_unexpected');
    const metadata = event.metadata.replace(`"org":"${org}"`, `"org":"${other}"`);
    expect(metadata).not.toBe(event.metadata);
    expect(codes(audit(forged(index, { metadata })))).toContain('event_unexpected');
  });

  it.each(['null', `"${other}"`])('a submission whose metadata name another organization: %s', (beside) => {
    const index = log.findIndex(({ type, metadata }) => type === 'ActionSubmitted' && metadata.includes(`"${org}"`));
    const metadata = log[index]!.metadata.replace(`"org":"${org}"`, `"org":${beside}`);
    expect(metadata).not.toBe(log[index]!.metadata);
    expect(codes(audit(forged(index, { metadata })))).toContain('event_unexpected');
  });

  it('every deed whose text was changed without changing its meaning', () => {
    for (const index of deeds()) {
      for (const part of ['data', 'metadata'] as const) {
        const text = (log[index] as RecordedEvent)[part];
        const others = [`${text} `, text.replace('{', '{ '), text.replace('{', '{"org":"org_0",')];
        for (const other of others) {
          expect([other, codes(audit(changed(index, { [part]: other })))]).toEqual([other, ['event_altered']]);
        }
      }
    }
  });

  it('a deed that lacks the signature of its COSE form', () => {
    const [index] = deeds() as [number];
    const stored = JSON.parse((log[index] as RecordedEvent).data) as LedgerEvent['data'];
    const data = JSON.stringify({ ...stored, cose_signature: undefined });
    expect(codes(audit(changed(index, { data })))).toEqual(['deed_differs', 'bad_cose_signature']);
  });

  it('a deed whose COSE form is signed by another key', () => {
    const [index, another] = deeds() as [number, number];
    const storedAt = (at: number) => JSON.parse((log[at] as RecordedEvent).data) as LedgerEvent['data'];
    const data = JSON.stringify({ ...storedAt(index), cose_signature: storedAt(another).cose_signature });
    expect(codes(audit(changed(index, { data })))).toEqual(['bad_cose_signature']);
  });

  it('a deed without its hash, even if the log ends before the revocation that names it is sealed', () => {
    const index = log.findLastIndex(({ type }, at) => type === 'DeedSealed' && at < indexOf('SealKeyRevoked'));
    const stored = JSON.parse((log[index] as RecordedEvent).data) as LedgerEvent['data'];
    const data = JSON.stringify({ ...stored, body_hash: undefined });
    const verdict = audit(changed(index, { data }).slice(0, indexOf('SealKeyRevoked') + 1));
    expect(codes(verdict)).toContain('deed_differs');
    expect(verdict.unsealed).toBe(2);
  });

  it('a deed under a key that was revoked before', () => {
    const at = log.findIndex(({ type }) => type === 'SealKeyRevoked');
    // The same log with the revocation moved before the first deed.
    const first = indexOf('DeedSealed');
    const revoked = log[at] as RecordedEvent;
    const moved = [...log.slice(0, first), revoked, ...log.slice(first, at), ...log.slice(at + 1)];
    expect(codes(audit(moved))).toContain('key_not_valid');
  });

  it('every removed event, except the ends of streams that nothing follows', () => {
    const silent = log.filter((_, index) => audit(log.filter((__, at) => at !== index)).faultCount === 0);
    const lastOf = (stream: string) => log.findLast((event) => event.stream === stream);
    // A cut at the end of a chain shows only to somebody who noted the head elsewhere; the cut deeds count as not
    // sealed yet.
    const ends = [streamOf('ledger', org), streamOf('ledger', other)].map(lastOf);
    expect(silent.map(({ id }) => id).sort()).toEqual(ends.map((event) => event?.id).sort());
  });

  it('a rewritten decision whose id was made to fit', () => {
    const index = indexOf('ActionDecided');
    const data = (log[index] as RecordedEvent).data.replace('"rule"', '"default"');
    expect(data).not.toBe(log[index]?.data);
    expect(codes(audit(forged(index, { data })))).toEqual(['deed_differs']);
  });

  it('a rewritten outcome whose id was made to fit', () => {
    const index = indexOf('ExecutionFinished');
    const data = (log[index] as RecordedEvent).data.replace(after(20), after(21));
    expect(data).not.toBe(log[index]?.data);
    expect(codes(audit(forged(index, { data })))).toContain('deed_differs');
  });

  it('a rewritten deed whose hashes were made to fit, without the key', () => {
    const index = indexOf('DeedSealed');
    const stored = JSON.parse((log[index] as RecordedEvent).data) as LedgerEvent['data'];
    const body = stored.body.replace('"seq":1', '"seq":1'.replace('1', '2'));
    const body_hash = digestOf(Buffer.from(body));
    const id = uuidOfHash(body_hash.slice('sha256:'.length));
    const data = JSON.stringify({ ...stored, body, body_hash });
    expect(codes(audit(changed(index, { data, id })))).toEqual(expect.arrayContaining(['deed_differs', 'bad_seal']));
  });

  it('a deed that was sealed again by a key that is not in the log', async () => {
    const index = indexOf('DeedSealed');
    const stored = JSON.parse((log[index] as RecordedEvent).data) as LedgerEvent['data'];
    const stranger = await new LedgerBench(new MemoryEventStore()).activateKey();
    const { signature } = sealAtOnce(Buffer.from(stored.body), stranger);
    const data = JSON.stringify({ ...stored, signature });
    expect(codes(audit(changed(index, { data })))).toEqual(['bad_seal']);
  });

  it('a deed that was skipped', () => {
    const index = indexOf('DeedSealed', indexOf('DeedSealed') + 1);
    const left = log.filter((_, at) => at !== index);
    expect(codes(audit(left))).toEqual(expect.arrayContaining(['deed_missing', 'event_missing', 'deed_differs']));
  });

  it('an event that cannot be read, and continues after it', () => {
    const verdict = audit(changed(indexOf('OrganizationCreated'), { data: '{' }));
    expect(codes(verdict)).toEqual(['event_unreadable', 'deed_unasked']);
    expect(verdict.events).toBe(log.length);
  });

  it('the place of each of the first hundred faults, and counts the others', () => {
    const index = indexOf('ActionDecided');
    const { stream, revision } = log[index] as RecordedEvent;
    const [fault] = audit(changed(index, { data: `${log[index]?.data ?? ''} ` })).faults;
    expect(fault).toEqual({ code: 'event_altered', org, stream, revision, kind: null, digest: null });
    const all = log.filter(({ stream: of }) => !of.startsWith('ledger-'));
    const spoilt = Array.from({ length: 12 }, () => all.map((event) => ({ ...event, data: `${event.data} ` }))).flat();
    const verdict = audit(spoilt);
    expect(verdict.faults).toHaveLength(100);
    expect(verdict.faultCount).toBeGreaterThan(100);
  });

  it('every deed whose id does not follow from its body', () => {
    for (const index of deeds()) {
      expect(codes(audit(changed(index, { id: log[0]?.id ?? '' })))).toContain('event_altered');
    }
  });
});
