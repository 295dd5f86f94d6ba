import { digestOf } from '#libs/crypto';
import { LedgerReader } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { DeedRow, ReadModels } from '#libs/infra/read-models';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GivenLog, sealed, TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { deedRow, writeRows } from '../../../../test/support/given-rows.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { FindActionDeeds, FindActionDeedsHandler } from './find-action-deeds.query-handler.js';

describe('the deeds of an action', () => {
  let readModels: TestReadModels;
  let handler: FindActionDeedsHandler;

  beforeAll(async () => {
    readModels = await createTestReadModels();
    const amendment = { kind: 'amendment', action: testId('act', 1) } as const;
    await writeRows(readModels.source, DeedRow, [
      deedRow(1),
      deedRow(2),
      deedRow(3, amendment),
      deedRow(4, { org: testId('org', 2), action: testId('act', 1) }),
    ]);
    const log = new GivenLog(new MemoryEventStore());
    const body = JSON.stringify({ seq: 1 });
    await log.append(
      `ledger-${TEST_ORG}`,
      sealed(1),
      sealed(2),
      sealed(3),
      sealed(4),
      sealed(5, { body, body_hash: digestOf(body) }),
    );
    handler = new FindActionDeedsHandler(new ReadModels(readModels.source), new LedgerReader(log.store));
  });
  afterAll(() => readModels.drop());

  const deedsOf = (number: number, ...deeds: readonly number[]) => {
    const ids = deeds.map((deed) => testId('deed', deed));
    return handler.execute(new FindActionDeeds(TEST_ORG, testId('act', number), ids));
  };

  it('are its own and the amendments to it, in the order of the chain', async () => {
    expect((await deedsOf(1, 1, 3)).map(({ id, kind }) => [id, kind])).toEqual([
      [testId('deed', 1), 'action'],
      [testId('deed', 3), 'amendment'],
    ]);
    expect(await deedsOf(2, 2)).toHaveLength(1);
  });

  it('are those that the caller has seen, even if the rows have more by now', async () => {
    expect((await deedsOf(1, 1)).map(({ id }) => id)).toEqual([testId('deed', 1)]);
  });

  it('are read from the ledger if their row does not exist yet', async () => {
    const id = testId('deed', 5);
    const latest = { id, seq: 5, kind: 'action', action: testId('act', 5), issuedAt: testTime(8) };
    expect(await deedsOf(5, 5)).toEqual([latest]);
  });
});
