import { describe, expect, it, vi } from 'vitest';
import { isDeedCoseSigned, parseDeedBody, parsePublicKeyText, sealFault, type Digest } from '#libs/crypto';
import { MemoryEventStore } from '#libs/infra/event-store';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';
import { after, metadataAt, NOW } from '../support/given.js';
import { profileOf, sequentialProfileOf } from '../support/log-profile.js';
import { newEvent } from '../support/new-event.js';
import {
  AppendTooLarge,
  decodeEvent,
  MissingEvent,
  ONLY_STREAM,
  type Append,
  type AppendResult,
  type OrgId,
  type RecordedEvent,
} from '#libs/domain/kernel';
import {
  deedBodyOf,
  foldAction,
  NoActiveSealKey,
  EventWithoutOrganization,
  SEAL_KEYS_STREAM,
  sealKeyDecider,
  sealRequestOf,
  type LedgerEvent,
} from '#libs/domain/ledger';

const deedsOf = (ledger: readonly RecordedEvent[]) => ledger.map((event) => decodeEvent<LedgerEvent>(event));

/** Checks INV-05: seq is gapless from 1, and each link is the body hash of the deed before. */
const expectChain = (ledger: readonly RecordedEvent[]): void => {
  let previous: Digest | null = null;
  deedsOf(ledger).forEach(({ event, recorded }, index) => {
    expect(event.data).toMatchObject({ seq: index + 1, prev_hash: previous });
    expect(recorded.revision).toBe(index);
    expect(parseDeedBody(Buffer.from(event.data.body))).toMatchObject({ seq: index + 1, org: event.data.org });
    previous = event.data.body_hash;
  });
};

/** A store that accepts no more than three deeds in one append. */
class NarrowStore extends MemoryEventStore {
  refused = 0;
  override append(append: Append): Promise<AppendResult> {
    if (!append.stream.startsWith('ledger-') || append.events.length <= 3) return super.append(append);
    this.refused += 1;
    return Promise.reject(new AppendTooLarge(1_000_001));
  }
}

const bench = async (
  store = new MemoryEventStore(),
  profile = profileOf(store),
): Promise<{ bench: LedgerBench; org: OrgId }> => {
  const made = new LedgerBench(store, undefined, undefined, profile);
  await made.activateKey();
  return { bench: made, org: newOrg() };
};

describe('the sealer', () => {
  it('gives each recorded action exactly one deed, in the order of the log', async () => {
    const { bench: log, org } = await bench();
    const streams = [await log.recordAction(org), await log.recordAction(org, 'executed'), await log.recordAction(org)];
    await log.feed(log.sealer(), await log.log());
    const ledger = await log.ledgerOf(org);
    expectChain(ledger);
    expect(deedsOf(ledger).map(({ metadata }) => metadata.source?.stream)).toEqual(streams);
  });

  it('makes the members of a deed in the order in which they are written', async () => {
    const { bench: log, org } = await bench();
    for (const kind of ['executed', 'refused'] as const) {
      const envelopes = (await log.store.readStream(await log.recordAction(org, kind))).map((event) =>
        decodeEvent(event),
      );
      const last = envelopes.at(-1);
      const request = last && sealRequestOf(last, foldAction(envelopes));
      if (!request) throw new Error('no deed is asked for');
      const body = Buffer.from(deedBodyOf(request, { seq: 0, bodyHash: null }, NOW, 'a'.repeat(32))).toString();
      for (const [name, section] of Object.entries(request.sections)) {
        expect(body).toContain(`"${name}":${JSON.stringify(section)}`);
      }
    }
  });

  it('seals nothing twice, however often it gets the same log', async () => {
    const { bench: log, org } = await bench();
    for (let index = 0; index < 5; index += 1) await log.recordAction(org, index % 2 ? 'executed' : 'refused');
    const events = await log.log();
    for (let round = 0; round < 3; round += 1) await log.feed(log.sealer(), events);
    const sealer = log.sealer();
    for (const event of events) await log.feed(sealer, [event]);
    expect(await log.ledgerOf(org)).toHaveLength(5);
  });

  it('continues from the ledger’s tail if it begins in the middle of an action', async () => {
    const { bench: log, org } = await bench();
    await log.recordAction(org, 'executed');
    const events = await log.log();
    // Only the last event is passed: the earlier ones were read by a sealer that has ended.
    await log.feed(log.sealer(), events.slice(-1));
    expect(await log.ledgerOf(org)).toHaveLength(1);
  });

  it('lets one of two sealers of an organization win each deed: no fork, no gap (CP-24)', async () => {
    const { bench: log, org } = await bench();
    for (let index = 0; index < 60; index += 1) await log.recordAction(org);
    const events = await log.log();
    const sealers = Array.from({ length: 4 }, () => log.sealer());
    await Promise.all(
      sealers.map(async (sealer) => {
        for (let start = 0; start < events.length; start += 7) await log.feed(sealer, events.slice(start, start + 7));
      }),
    );
    const ledger = await log.ledgerOf(org);
    expect(ledger).toHaveLength(60);
    expectChain(ledger);
  });

  it('splits deeds that are too large for one append', async () => {
    const store = new NarrowStore();
    const log = new LedgerBench(store);
    await log.activateKey();
    const org = newOrg();
    for (let index = 0; index < 10; index += 1) await log.recordAction(org);
    await log.feed(log.sealer(), await log.log());
    const ledger = await log.ledgerOf(org);
    expect(ledger).toHaveLength(10);
    expectChain(ledger);
    expect(store.refused).toBeGreaterThan(0);
  });

  it('keeps organizations apart', async () => {
    const { bench: log, org } = await bench();
    const other = newOrg();
    await log.recordAction(org);
    await log.recordAction(other);
    await log.recordAction(org);
    await log.feed(log.sealer(), await log.log());
    expect(await log.ledgerOf(org)).toHaveLength(2);
    expect(await log.ledgerOf(other)).toHaveLength(1);
  });

  it('makes seals that verify under the key that was active', async () => {
    const log = new LedgerBench(new MemoryEventStore());
    const key = await log.activateKey();
    const org = newOrg();
    await log.recordAction(org, 'executed');
    await log.feed(log.sealer(), await log.log());
    const [deed] = deedsOf(await log.ledgerOf(org));
    const { body, body_hash: bodyHash, kid, signature, cose_signature: coseSignature } = deed!.event.data;
    const publicKey = parsePublicKeyText(key.publicKey.text);
    expect(sealFault(Buffer.from(body), { bodyHash, kid, signature }, publicKey)).toBeNull();
    expect(isDeedCoseSigned({ kid, body: Buffer.from(body), coseSignature }, publicKey)).toBe(true);
  });

  it('waits without a key, loses nothing, and seals in order once there is one', async () => {
    const log = new LedgerBench(new MemoryEventStore());
    const org = newOrg();
    await log.recordAction(org);
    await log.recordAction(org);
    await expect(log.feed(log.sealer(), await log.log())).rejects.toBeInstanceOf(NoActiveSealKey);
    expect(await log.ledgerOf(org)).toHaveLength(0);
    await log.activateKey();
    await log.feed(log.sealer(), await log.log());
    expectChain(await log.ledgerOf(org));
  });

  it('never dates a deed before the one it follows, when the clock goes back (rule DEED-4)', async () => {
    const { bench: log, org } = await bench();
    await log.recordAction(org);
    log.clock.ms = Date.parse(after(60_000));
    await log.feed(log.sealer(), await log.log());
    await log.recordAction(org);
    log.clock.ms = Date.parse(after(1_000));
    await log.feed(log.sealer(), await log.log());
    const issued = deedsOf(await log.ledgerOf(org)).map(({ event }) => event.data.issued_at);
    expect(issued).toEqual([after(60_000), after(60_000)]);
  });

  it('dates no deed before its key was activated, when the clock goes back (INV-06)', async () => {
    const { bench: log, org } = await bench();
    const other = newOrg();
    await log.recordAction(org);
    await log.recordAction(other);
    log.clock.ms = Date.parse(after(-600_000));
    await log.feed(log.sealer(), await log.log());
    const deeds = [...deedsOf(await log.ledgerOf(org)), ...deedsOf(await log.ledgerOf(other))];
    expect(deeds.map(({ event }) => event.data.issued_at)).toEqual([NOW, NOW]);
  });

  it('dates a deed within the window of its key, however long it was frozen before it signed (INV-06)', async () => {
    // As beside KurrentDB, where the sealer has to ask for the seal keys.
    const store = new MemoryEventStore();
    const { bench: log, org } = await bench(store, sequentialProfileOf(store));
    await log.recordAction(org);
    const events = await log.log();
    const heads = log.store.heads.bind(log.store);
    let isFrozen = false;
    vi.spyOn(log.store, 'heads').mockImplementation(async (streams) => {
      const answer = await heads(streams);
      if (isFrozen || !streams.includes(SEAL_KEYS_STREAM)) return answer;
      // While the answer is under way, the key is retired and its window ends.
      isFrozen = true;
      await log.activateKey(after(1_000));
      log.clock.ms += 120_000;
      return answer;
    });
    await log.feed(log.sealer(), events);
    expect(isFrozen).toBe(true);
    expect(deedsOf(await log.ledgerOf(org)).map(({ event }) => event.data.issued_at)).toEqual([NOW]);
  });

  it('writes no deed under keys that have changed since it signed (INV-06)', async () => {
    const { bench: log, org } = await bench();
    const sealer = log.sealer();
    await log.recordAction(org);
    await log.feed(sealer, await log.log());
    await log.recordAction(org);
    const events = await log.log();
    const append = log.store.append.bind(log.store);
    let kid: string | null = null;
    vi.spyOn(log.store, 'append').mockImplementation(async (deeds) => {
      if (kid !== null || !deeds.stream.startsWith('ledger-')) return append(deeds);
      kid = '';
      kid = (await log.activateKey(after(1_000))).publicKey.kid;
      log.clock.ms += 120_000;
      return append(deeds);
    });
    await log.feed(sealer, events);
    const deeds = deedsOf(await log.ledgerOf(org)).map(({ event }) => event.data);
    expect(deeds.map(({ issued_at: issuedAt }) => issuedAt)).toEqual([NOW, after(120_000)]);
    expect(deeds[1]?.kid).toBe(kid);
    expectChain(await log.ledgerOf(org));
  });

  it('does not ask for the seal keys if the append can require them', async () => {
    const { bench: log, org } = await bench();
    const sealer = log.sealer();
    await log.recordAction(org);
    await log.feed(sealer, await log.log());
    await log.recordAction(org);
    const heads = vi.spyOn(log.store, 'heads');
    await log.feed(sealer, await log.log());
    expect(heads).not.toHaveBeenCalled();
    expect(await log.ledgerOf(org)).toHaveLength(2);
  });

  it('does not wait until the head of a ledger is remembered', async () => {
    const { bench: log, org } = await bench();
    const remembered = vi.spyOn(log.heads, 'remember').mockReturnValue(new Promise(() => undefined));
    await log.recordAction(org);
    await log.feed(log.sealer(), await log.log());
    expect(remembered).toHaveBeenCalledWith(expect.objectContaining({ org, seq: 1 }));
    expect(await log.ledgerOf(org)).toHaveLength(1);
  });

  it('stops sealing under a revoked key at once', async () => {
    const { bench: log, org } = await bench();
    const sealer = log.sealer();
    await log.recordAction(org);
    await log.feed(sealer, await log.log());
    const [first] = deedsOf(await log.ledgerOf(org));
    const metadata = { ...metadataAt(), org: null, commandId: 'revoke' };
    const data = { kid: first!.event.data.kid, reason: null };
    await log.runner.run(sealKeyDecider, ONLY_STREAM, { type: 'RevokeSealKey', data, metadata }, metadata);
    await log.recordAction(org);
    await expect(log.feed(sealer, await log.log())).rejects.toBeInstanceOf(NoActiveSealKey);
  });

  it('stops before an event that names no organization, and reports its place', async () => {
    const { bench: log, org } = await bench();
    await log.recordAction(org);
    const foreign = newEvent({ type: 'OrderPlaced', metadata: '' });
    await log.store.append({ stream: 'orders-1', expectedRevision: 'no_stream', events: [foreign] });
    const fed = log.feed(log.sealer(), await log.log());
    await expect(fed).rejects.toBeInstanceOf(EventWithoutOrganization);
    await expect(fed).rejects.toThrow('orders-1 holds at revision 0 an event (OrderPlaced) that does not say whose');
  });

  it('never folds an action from a part of its events', async () => {
    const { bench: log, org } = await bench();
    await log.recordAction(org);
    const envelopes = (await log.log()).map((recorded) => decodeEvent(recorded));
    const action = envelopes.filter(({ recorded }) => recorded.stream.startsWith('action-'));
    expect(foldAction(action).state).toBe('recorded');
    for (let gone = 0; gone < action.length - 1; gone += 1) {
      expect(() => foldAction(action.toSpliced(gone, 1))).toThrow(MissingEvent);
    }
  });

  it('writes what an auditor rebuilds from the log alone, byte for byte', async () => {
    const { bench: log, org } = await bench();
    for (let index = 0; index < 6; index += 1) await log.recordAction(org, index % 2 ? 'executed' : 'refused');
    await log.feed(log.sealer(), await log.log());
    let previous: { seq: number; bodyHash: Digest | null } = { seq: 0, bodyHash: null };
    for (const { event, metadata } of deedsOf(await log.ledgerOf(org))) {
      const { stream, revision } = metadata.source!;
      const source = (await log.store.readStream(stream, { limit: revision + 1 })).map((recorded) =>
        decodeEvent(recorded),
      );
      const request = sealRequestOf(source.at(-1)!, foldAction(source));
      const rebuilt = deedBodyOf(request!, previous, event.data.issued_at, event.data.kid);
      expect(Buffer.from(rebuilt).toString()).toBe(event.data.body);
      previous = { seq: event.data.seq, bodyHash: event.data.body_hash };
    }
    expect(previous.seq).toBe(6);
  });
});
