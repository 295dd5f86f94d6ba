import { describe, expect, it } from 'vitest';
import { canonicalBytes } from '#libs/crypto';
import { ONLY_STREAM, streamOf, timestampOf, uuidOfHash, type RecordedEvent } from '#libs/domain/kernel';
import { LogAudit, sealKeyDecider, type AuditVerdict, type LedgerEvent } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { sealAtOnce } from '../../libs/crypto/src/testing/seal-at-once.js';
import { after, metadataAt, NOW } from '../support/given.js';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';

const org = newOrg();

const audit = (events: readonly RecordedEvent[]): AuditVerdict => {
  const running = new LogAudit();
  for (const event of events) running.step(event);
  return running.verdict();
};
const codes = (verdict: AuditVerdict): readonly string[] => verdict.faults.map(({ code }) => code);

describe('an audit finds', () => {
  it('a deed that is later than its key’s retirement, as a verifier of bundles does (INV-06)', async () => {
    const stepped = new LedgerBench(new MemoryEventStore());
    await stepped.activateKey();
    await stepped.recordAction(org);
    await stepped.recordAction(org);
    stepped.clock.ms = Date.parse(after(600_000));
    await stepped.feed(stepped.sealer(), await stepped.log());
    // The clock was set back, and the rotation is not told the time of the last deed, so it retires the old key as of a
    // time before that deed.
    await stepped.activateKey(NOW);
    const { faults } = audit(await stepped.log());
    expect(faults).toEqual([
      { code: 'key_not_valid', org, stream: streamOf('ledger', org), revision: 1, kind: null, digest: null },
    ]);
  });

  /**
   * The log of two deeds, one an hour after the other. The second is changed to another time and sealed again with the
   * same key.
   */
  const sealedAnew = async (issuedAt: string, retiredAt: string | null): Promise<readonly RecordedEvent[]> => {
    const held = new LedgerBench(new MemoryEventStore());
    const key = await held.activateKey();
    for (const minutes of [60, 120]) {
      held.clock.ms = Date.parse(after(minutes * 60_000));
      await held.recordAction(org);
      await held.feed(held.sealer(), await held.log());
      if (minutes === 60 && retiredAt !== null) await held.activateKey(retiredAt);
    }
    const events = await held.log();
    const last = events.at(-1) as RecordedEvent;
    const { kid } = key.publicKey;
    const stored = JSON.parse(last.data) as LedgerEvent['data'];
    const body = canonicalBytes({ ...(JSON.parse(stored.body) as object), issued_at: issuedAt, kid });
    const { bodyHash, signature, coseSignature } = sealAtOnce(body, key);
    const seal = { kid, body_hash: bodyHash, signature, cose_signature: coseSignature };
    const data = JSON.stringify({ ...stored, ...seal, body: Buffer.from(body).toString(), issued_at: issuedAt });
    return [...events.slice(0, -1), { ...last, data, id: uuidOfHash(bodyHash.slice('sha256:'.length)) }];
  };

  it.each([
    ['is dated before the one before it', after(30 * 60_000), null, ['key_not_valid']],
    ['is dated as the one before it, which may be', after(60 * 60_000), null, []],
    ['is of a key that was retired before', after(120 * 60_000), after(60 * 60_000), ['key_not_valid']],
  ])('a deed that %s', async (_title, issuedAt, retiredAt, found) => {
    const verdict = audit(await sealedAnew(issuedAt, retiredAt));
    expect(codes(verdict).filter((code) => code === 'key_not_valid')).toEqual(found);
    expect(codes(verdict)).not.toContain('bad_seal');
  });

  it('a deed at the very moment of its key’s retirement', async () => {
    const held = new LedgerBench(new MemoryEventStore());
    await held.activateKey();
    await held.recordAction(org);
    // A rotation at `NOW` leaves the old key one more minute.
    held.clock.ms = Date.parse(after(60_000));
    await held.feed(held.sealer(), await held.log());
    await held.activateKey(NOW);
    expect(codes(audit(await held.log()))).toEqual(['key_not_valid']);
  });
});

describe('an audit finds no fault', () => {
  it('in a ledger without a deed for the revocation of a key that it never used', async () => {
    const held = new LedgerBench(new MemoryEventStore());
    const { publicKey } = await held.activateKey();
    await held.recordAction(org);
    const metadata = { ...metadataAt(), org: null, commandId: 'revoke' };
    const revoke = { type: 'RevokeSealKey' as const, data: { kid: publicKey.kid, reason: 'lost' }, metadata };
    await held.runner.run(sealKeyDecider, ONLY_STREAM, revoke, metadata);
    held.clock.ms += 1_000;
    await held.activateKey(timestampOf(held.clock.ms));
    await held.feed(held.sealer(), await held.log());
    await held.recordAction(org);
    await held.feed(held.sealer(), await held.log());
    expect(audit(await held.log())).toMatchObject({ deeds: 2, unsealed: 0, faults: [] });
  });
});
