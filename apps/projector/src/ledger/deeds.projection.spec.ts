import { digestOf } from '#libs/crypto';
import { MemoryEventStore } from '#libs/infra/event-store';
import { DeedRow } from '#libs/infra/read-models';
import { afterAll, beforeAll, expect, describe, it } from 'vitest';
import { followLog } from '../../../../test/support/follow-log.js';
import { GivenLog, sealed, TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { deedsProjection } from './deeds.projection.js';

describe('deeds projection', () => {
  let readModels: TestReadModels;

  beforeAll(async () => {
    readModels = await createTestReadModels();
  });
  afterAll(() => readModels.drop());

  it('keeps the envelope of every deed of the ledger', async () => {
    const log = new GivenLog(new MemoryEventStore());
    await log.append(`ledger-${TEST_ORG}`, sealed(1), sealed(2, { kind: 'admin', action: null }));
    await followLog(deedsProjection, log.store, readModels.projections);
    expect(await readModels.source.manager.find(DeedRow, { order: { seq: 'ASC' } })).toEqual([
      {
        id: testId('deed', 1),
        org: TEST_ORG,
        seq: 1,
        kind: 'action',
        action: testId('act', 1),
        agent: testId('agt', 1),
        issuedAt: testTime(4),
        bodyHash: digestOf('body 1'),
        prevHash: null,
        kid: 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
        signature: 'c2lnbmF0dXJl',
      },
      expect.objectContaining({ seq: 2, kind: 'admin', action: null, agent: null, prevHash: digestOf('body 1') }),
    ]);
  });

  it('stops at a deed whose body cannot be read', async () => {
    const log = new GivenLog(new MemoryEventStore());
    await log.append(`ledger-${TEST_ORG}`, sealed(1, { body: '{"seq":1}' }));
    await expect(followLog(deedsProjection, log.store, readModels.projections)).rejects.toThrow('corrupt');
  });
});
