import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SigningKey } from '#libs/crypto';
import {
  decodeEvent,
  type EventStore,
  FoldedStreams,
  type OrgId,
  type ReadStreamOptions,
  type RecordedEvent,
  timestampOf,
} from '#libs/domain/kernel';
import {
  CHECK_TIME_LIMIT_MS,
  CheckLedger,
  type LedgerCheck,
  LedgerReader,
  revocationWork,
  SealKeyAdministration,
  type SealKeyEvent,
} from '#libs/domain/ledger';
import { organizationDecider } from '#libs/domain/people';
import { MemoryEventStore } from '#libs/infra/event-store';
import { testId } from '../support/given-log.js';
import { after, metadataAt, NOW } from '../support/given.js';
import { HeldSealKeys, LedgerBench, newOrg, SetClock } from '../support/ledger-fixtures.js';

/** A store in whose database somebody has changed rows: reads of a ledger return other events than were appended. */
class TamperedStore extends MemoryEventStore {
  tamper: (events: RecordedEvent[]) => (RecordedEvent | undefined)[] = (events) => events;

  override async readStream(stream: string, options: ReadStreamOptions = {}): Promise<readonly RecordedEvent[]> {
    // Reads backwards are the sealer's, which reads only the end of a ledger.
    if (!stream.startsWith('ledger-') || options.direction === 'backwards') return super.readStream(stream, options);
    const { from = 0, limit = Infinity } = options;
    const whole = this.tamper([...(await super.readStream(stream))]).filter((event) => event !== undefined);
    return whole.filter(({ revision }) => revision >= from).slice(0, limit);
  }
}

type Revoked = Extract<SealKeyEvent, { type: 'SealKeyRevoked' }>;

const DEEDS = 12;

let store: TamperedStore;
let bench: LedgerBench;
let org: OrgId;
let key: SigningKey;

const sealActions = async (count: number): Promise<void> => {
  for (let number = 0; number < count; number += 1) {
    await bench.recordAction(org, number % 2 === 0 ? 'executed' : 'refused');
    bench.clock.ms += 1_000;
    await bench.feed(bench.sealer(), await bench.log());
  }
};

const sealTogether = async (count: number): Promise<void> => {
  for (let number = 0; number < count; number += 1) await bench.recordAction(org);
  await bench.feed(bench.sealer(), await bench.log());
};

/** Creates the organization, because a revocation asks for a deed in every organization that the log has created. */
const makeOrganization = async (): Promise<void> => {
  const metadata = { ...metadataAt(), org, commandId: 'make the organization' };
  const data = { org, name: 'Test', timezone: 'UTC', owner: testId('usr', 1), membership: testId('mem', 1) };
  await bench.runner.run(organizationDecider, org, { type: 'CreateOrganization', data, metadata }, metadata);
  await bench.feed(bench.sealer(), await bench.log());
};

const keysOf = (from: EventStore): SealKeyAdministration => {
  const streams = new FoldedStreams(from);
  return new SealKeyAdministration(bench.runner, streams, new HeldSealKeys());
};

const check = (
  range: { last: number } | { since: string } = { last: 1_000 },
  clock = new SetClock(),
  keys = keysOf(store),
): Promise<LedgerCheck> =>
  new CheckLedger(new LedgerReader(store), keys, clock).check(org, range, new AbortController().signal);

/** Changes the stored event of one deed. */
const change =
  (seq: number, how: (event: RecordedEvent) => RecordedEvent | undefined): typeof store.tamper =>
  (events) =>
    events.map((event) => (event.revision === seq - 1 ? how(event) : event));

const data =
  (changes: object | ((stored: Record<string, unknown>) => object)) =>
  (event: RecordedEvent): RecordedEvent => {
    const stored = JSON.parse(event.data) as Record<string, unknown>;
    return {
      ...event,
      data: JSON.stringify({ ...stored, ...(typeof changes === 'function' ? changes(stored) : changes) }),
    };
  };

beforeEach(async () => {
  store = new TamperedStore();
  bench = new LedgerBench(store);
  org = newOrg();
  key = await bench.activateKey();
  await sealActions(DEEDS);
});

describe('a ledger in which nothing was touched', () => {
  it('is intact, whichever deed the check begins with', async () => {
    for (const last of [1, 5, DEEDS, 1_000]) {
      const checked = Math.min(last, DEEDS);
      expect(await check({ last })).toMatchObject({ result: 'intact', checked, first_seq: DEEDS - checked + 1 });
    }
    expect(await check({ since: after(3_000) })).toMatchObject({ result: 'intact', first_seq: 3, last_seq: DEEDS });
  });

  it('is checked beyond one page and one batch', async () => {
    await sealTogether(140);
    expect(await check()).toMatchObject({ result: 'intact', checked: DEEDS + 140, last_seq: DEEDS + 140 });
  });
});

describe('one deed that was tampered with', () => {
  const other = 'A'.repeat(86);

  it.each<[string, string, (event: RecordedEvent) => RecordedEvent | undefined]>([
    [
      'a character of its bytes',
      'body_hash_mismatch',
      data(({ body }) => ({ body: String(body).replace('crm', 'crn') })),
    ],
    ['its seal', 'bad_signature', data({ signature: other })],
    ['the seal of its COSE form', 'bad_cose_signature', data({ cose_signature: other })],
    ['a seal that is none', 'bad_signature', data({ signature: '' })],
    ['its hash', 'bad_record', data({ body_hash: `sha256:${'0'.repeat(64)}` })],
    ['a hash that is none', 'bad_record', data({ body_hash: 'sha256:00' })],
    ['the name of its key', 'wrong_kid', data({ kid: '0'.repeat(32) })],
    ['its seq', 'record_mismatch', data({ seq: 700 })],
    ['its id', 'record_mismatch', data({ deed: 'deed_00000000000000000000000007' })],
    ['its organization', 'record_mismatch', data({ org: 'org_00000000000000000000000007' })],
    ['its kind', 'record_mismatch', data({ kind: 'admin' })],
    ['its action', 'record_mismatch', data({ action: null })],
    ['its time', 'record_mismatch', data({ issued_at: after(0) })],
    ['its link', 'record_mismatch', data({ prev_hash: `sha256:${'1'.repeat(64)}` })],
    [
      'its source',
      'record_mismatch',
      (event) => ({ ...event, metadata: event.metadata.replace(/"revision":\d+/, '"revision":99') }),
    ],
    ['a member that is missing', 'bad_record', data({ body: undefined })],
    ['its data, which is no JSON', 'bad_record', (event) => ({ ...event, data: event.data.slice(1) })],
    ['its data, which is no object', 'bad_record', (event) => ({ ...event, data: 'null' })],
    ['its metadata', 'bad_record', (event) => ({ ...event, metadata: '{}' })],
    ['its type', 'bad_record', (event) => ({ ...event, type: 'DeedUnsealed' })],
    ['the id of its event', 'bad_record', (event) => ({ ...event, id: '00000000-0000-8000-8000-000000000000' })],
    ['the deed itself, removed', 'gap', () => undefined],
  ])('is found by %s: %s', async (_, reason, how) => {
    for (const seq of [1, 6, DEEDS]) {
      store.tamper = change(seq, how);
      const expected = { result: 'broken', reason, first_bad_seq: seq, links_intact: false, checked: seq - 1 };
      // A missing tail makes the check incomplete, and no deed wrong.
      const atTheEnd = { ...expected, result: 'incomplete', reason: 'missing_deeds' };
      expect(await check()).toMatchObject(reason === 'gap' && seq === DEEDS ? atTheEnd : expected);
    }
  });
});

describe('a chain that was tampered with', () => {
  it('is found if two deeds were swapped', async () => {
    store.tamper = (events) => {
      const [fourth, fifth] = [events[3], events[4]] as [RecordedEvent, RecordedEvent];
      const swapped = [...events];
      swapped[3] = { ...fifth, revision: 3 };
      swapped[4] = { ...fourth, revision: 4 };
      return swapped;
    };
    expect(await check()).toMatchObject({ result: 'broken', reason: 'wrong_seq', first_bad_seq: 4 });
  });

  it('is found if it has a deed of another organization', async () => {
    const [mine] = [org];
    org = newOrg();
    await bench.recordAction(org);
    await bench.feed(bench.sealer(), await bench.log());
    const [foreign] = await bench.ledgerOf(org);
    org = mine;
    store.tamper = change(1, () => foreign);
    expect(await check()).toMatchObject({ result: 'broken', reason: 'wrong_org', first_bad_seq: 1 });
  });

  it('is found if the deed before the range has other bytes', async () => {
    store.tamper = change(
      6,
      data(({ body }) => ({ body: `${String(body)} ` })),
    );
    expect(await check({ last: DEEDS - 6 })).toMatchObject({
      result: 'broken',
      reason: 'broken_link',
      first_bad_seq: 7,
    });
    expect(await check({ last: DEEDS - 7 })).toMatchObject({ result: 'intact' });
  });

  it('is found even if an unreadable deed disturbs the search for the begin of the range', async () => {
    store.tamper = change(7, (event) => ({ ...event, data: '' }));
    expect(await check({ since: after(8_000) })).toMatchObject({
      result: 'broken',
      reason: 'bad_record',
      first_bad_seq: 7,
    });
  });

  it('names the head by the hash of its bytes, not by the stored hash', async () => {
    const [head] = [(await check()).head];
    store.tamper = change(DEEDS, data({ body_hash: `sha256:${'0'.repeat(64)}` }));
    expect((await check()).head).toEqual(head);
  });
});

describe('a key that is not valid', () => {
  it('makes every deed under it invalid once it is revoked, and links are reported separately', async () => {
    bench.clock.ms += 60_000;
    await bench.activateKey(timestampOf(bench.clock.ms));
    bench.clock.ms += 120_000;
    await sealActions(3);
    await keysOf(store).revoke(key.publicKey.kid, null, { ...metadataAt(), org: null, commandId: 'revoke' });
    const verdict = { result: 'broken', reason: 'seal_key_revoked', links_intact: true };
    expect(await check()).toMatchObject({ ...verdict, first_bad_seq: 1, checked: DEEDS + 3 });
    expect(await check({ last: 5 })).toMatchObject({ ...verdict, first_bad_seq: DEEDS - 1, checked: 5 });
    expect(await check({ last: 3 })).toMatchObject({ result: 'intact', checked: 3 });
  });

  it('is found when the key set does not list it', async () => {
    expect(await check({ last: 4 }, new SetClock(), keysOf(new MemoryEventStore()))).toMatchObject({
      result: 'broken',
      reason: 'unknown_key',
      first_bad_seq: DEEDS - 3,
      links_intact: true,
    });
  });

  it('is found by the revocation in the chain, even if the key set hides it', async () => {
    await makeOrganization();
    const keys = keysOf(store);
    await keys.revoke(key.publicKey.kid, null, { ...metadataAt(), org: null, commandId: 'revoke' });
    bench.clock.ms += 1_000;
    await bench.activateKey(timestampOf(bench.clock.ms));
    const revoked = (await bench.log()).find(({ type }) => type === 'SealKeyRevoked') as RecordedEvent;
    const works = await revocationWork(store, decodeEvent<Revoked>(revoked), NOW);
    await bench.sealer().seal(org, works.get(org)?.requests ?? []);
    const forged = (await keys.list()).map((each) => ({ ...each, revokedAt: null }));
    const hiding = { list: () => Promise.resolve(forged) } as unknown as SealKeyAdministration;
    expect(await check({ last: 1_000 }, new SetClock(), hiding)).toMatchObject({
      result: 'broken',
      reason: 'seal_key_revoked',
      first_bad_seq: 1,
      links_intact: true,
    });
  });
});

describe('an unfinished check', () => {
  afterEach(() => {
    store.tamper = (events) => events;
  });

  it('says how far it came when it reached its time limit', async () => {
    await sealTogether(140);
    const clock = new SetClock();
    // Reading the head and two pages together takes longer than the time limit.
    store.tamper = (events) => {
      clock.ms += Math.ceil(CHECK_TIME_LIMIT_MS / 3);
      return events;
    };
    const result = await check({ last: 1_000 }, clock);
    expect(result).toMatchObject({
      result: 'incomplete',
      reason: 'time_limit',
      links_intact: false,
      last_seq: DEEDS + 140,
    });
    expect(result.first_bad_seq).toBe(result.checked + 1);
    expect(result.checked).toBeGreaterThan(0);
    expect(result.checked).toBeLessThan(DEEDS + 140);
  });

  it('stops when the caller has gone', async () => {
    const gone = new AbortController();
    gone.abort();
    const result = await new CheckLedger(new LedgerReader(store), keysOf(store), new SetClock()).check(
      org,
      { last: 1_000 },
      gone.signal,
    );
    expect(result.checked).toBeLessThanOrEqual(1);
  });
});
