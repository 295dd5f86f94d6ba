import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LivingAction } from '#libs/domain/gate';
import { StoreUnavailable } from '#libs/domain/kernel';
import { TEST_ORG, testId, testTime } from '../../../../../test/support/given-log.js';
import { actionRow, writeRows } from '../../../../../test/support/given-rows.js';
import { createTestReadModels, type TestReadModels } from '../../../../../test/support/read-models.js';
import { ActionRow } from './action.row.js';
import { WaitingActionReads } from './waiting-action-reads.js';

const CONNECTOR = testId('con', 1);

let readModels: TestReadModels;
let lagEvents = 0;
let reads: WaitingActionReads;

beforeAll(async () => {
  readModels = await createTestReadModels();
  reads = new WaitingActionReads(readModels.source, { catchUp: () => Promise.resolve({ lagEvents }) });
});
afterAll(() => readModels?.drop());
beforeEach(() => {
  lagEvents = 0;
});

const waiting = (
  number: number,
  changed: Partial<LivingAction['changeLog']> = {},
  connector = CONNECTOR,
): ActionRow => {
  const row = actionRow(number, { state: 'witnessing', verdict: null, level: null });
  const { folded } = row;
  const awaited = { reason: null, until: testTime(number) };
  const submission = { ...folded.submission, connector };
  const changeLog = { ...folded.changeLog, awaited, ...changed };
  return { ...row, folded: { ...folded, state: 'witnessing', submission, changeLog } };
};
const begun = (row: ActionRow): ActionRow => {
  const started_at = testTime(7);
  const none = { error_code: null, error_message: null, result_digest: null };
  const outcome = { status: 'succeeded', ...none, started_at, finished_at: started_at, latency_ms: 0 } as const;
  return { ...row, folded: { ...row.folded, outcome } };
};
const finished = {
  attempt: 1,
  transaction: { xid: '9', commit_lsn: '0/FF', rows: 1, counts: [] },
};

describe('the actions that wait for a change log', () => {
  it('are those of the connector, each with where it committed as far as anybody knows', async () => {
    const rows = [
      begun(waiting(1, { finished })),
      waiting(2, { finished: { attempt: 1, transaction: null } }),
      waiting(3, { awaited: null, finished }),
      waiting(4, { finished }, testId('con', 2)),
      actionRow(5),
    ];
    await writeRows(readModels.source, ActionRow, rows);
    const known = [
      { action: testId('act', 1), commitLsn: '0/FF', startedAt: testTime(7) },
      { action: testId('act', 2), commitLsn: null, startedAt: null },
    ];
    expect(new Set(await reads.of(TEST_ORG, CONNECTOR))).toEqual(new Set(known));
    expect(new Set(await reads.allOf(TEST_ORG, CONNECTOR))).toEqual(new Set(known));
    expect(await reads.of(testId('org', 2), CONNECTOR)).toEqual([]);
  });

  it('are not all of them while the rows are behind the log', async () => {
    lagEvents = 3;
    await expect(reads.allOf(TEST_ORG, CONNECTOR)).rejects.toThrow(StoreUnavailable);
  });
});
