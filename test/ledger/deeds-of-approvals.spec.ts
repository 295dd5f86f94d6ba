import { describe, expect, it } from 'vitest';
import { digestOf, parseDeedBody, type DeedBody } from '#libs/crypto';
import type { ActionEvent } from '#libs/domain/gate';
import { decodeEvent, type UserId } from '#libs/domain/kernel';
import { LogAudit, type LedgerEvent } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import {
  ACTION,
  APPROVAL,
  decidedBy,
  EXPIRES_AT,
  failed,
  finished,
  pending,
  ready,
  signedBy,
  started,
  userId,
  answerOf,
} from '../support/gate-fixtures.js';
import { after, NOW } from '../support/given.js';
import { LedgerBench, newOrg } from '../support/ledger-fixtures.js';

const [anna, ben, cara] = [userId(1), userId(2), userId(3)];
const seen = digestOf('what was shown later');
const toolDigest = digestOf('the tool');

/** The deed of an action with these events: sealed, and confirmed by an audit of the log. */
const deedOf = async (...events: readonly ActionEvent[]): Promise<DeedBody> => {
  const bench = new LedgerBench(new MemoryEventStore());
  const org = newOrg();
  await bench.activateKey();
  await bench.record(org, events);
  await bench.feed(bench.sealer(), await bench.log());
  const audit = new LogAudit(org, (end, position) => bench.store.isNext(end, position));
  for (const event of await bench.log()) audit.step(event);
  expect(audit.verdict()).toMatchObject({ deeds: 1, unsealed: 0, faults: [] });
  const [recorded] = await bench.ledgerOf(org);
  if (recorded === undefined) throw new Error('nothing was sealed');
  return parseDeedBody(Buffer.from(decodeEvent<LedgerEvent>(recorded).event.data.body));
};

const signed = (by: UserId, seconds: number, changes = {}): ActionEvent =>
  signedBy(answerOf(by, changes), after(seconds * 1_000));
const ran = [ready(), started('c1'), finished(failed, 'c1')];

describe('the deed of an action that people were asked about', () => {
  it('approved: names the approvers with their times, who decided, and the digest of the context they saw', async () => {
    const yes = decidedBy(answerOf(ben, { context_digest: seen }), 'approved', toolDigest, [anna, ben], after(2_000));
    const { approval, policy, execution } = await deedOf(...pending(2), signed(anna, 1), signed(ben, 2), yes, ...ran);
    expect(approval).toEqual({
      id: APPROVAL,
      status: 'approved',
      required: 2,
      countersigned: [
        { by: anna, at: after(1_000) },
        { by: ben, at: after(2_000) },
      ],
      context_digest: seen,
      expires_at: EXPIRES_AT,
      decided_at: after(2_000),
      decided_by: { type: 'user', id: ben },
    });
    expect(policy?.outcome).toBe('require_approval');
    expect(execution?.status).toBe('failed');
  });

  it('approved: leaves out a signature that no longer counted, and an earlier one of the same person', async () => {
    const { approval } = await deedOf(
      ...pending(2),
      signed(cara, 1),
      signed(anna, 2),
      signed(ben, 3),
      signed(anna, 4, { context_digest: seen }),
      decidedBy(answerOf(anna, { context_digest: seen }), 'approved', toolDigest, [anna, ben], after(4_000)),
      ...ran,
    );
    expect(approval?.countersigned).toEqual([
      { by: ben, at: after(3_000) },
      { by: anna, at: after(4_000) },
    ]);
  });

  it('denied: names who denied and who had approved', async () => {
    const no = decidedBy(answerOf(ben, { context_digest: seen, reason: 'Too much.' }), 'denied');
    const { approval, execution } = await deedOf(...pending(2), signed(anna, 1), no);
    expect(approval).toMatchObject({
      status: 'denied',
      countersigned: [{ by: anna, at: after(1_000) }],
      context_digest: seen,
      decided_at: NOW,
      decided_by: { type: 'user', id: ben },
    });
    expect(execution).toBeNull();
  });

  it('expired: has no decider, and the digest of the first context', async () => {
    const { approval } = await deedOf(...pending(), {
      type: 'ApprovalExpired',
      data: { action: ACTION, approval: APPROVAL, at: EXPIRES_AT },
    });
    expect(approval).toMatchObject({
      status: 'expired',
      countersigned: [],
      context_digest: answerOf(anna).context_digest,
      decided_at: EXPIRES_AT,
      decided_by: null,
    });
  });

  it.each([
    { type: 'user', id: anna },
    { type: 'operator', id: null },
  ] as const)('cancelled by whoever it was: $type', async (by) => {
    const { approval } = await deedOf(...pending(), {
      type: 'ActionCancelled',
      data: { action: ACTION, approval: APPROVAL, by, at: NOW },
    });
    expect(approval).toMatchObject({ status: 'cancelled', decided_at: NOW, decided_by: by });
  });
});
