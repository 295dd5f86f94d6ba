import { digestOf } from '#libs/crypto';
import { DeedRow } from '#libs/infra/read-models';
import { describe, expect, it } from 'vitest';
import { sealed, TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { ProjectionScene } from '../../../../test/support/projection-scene.js';
import { deedsProjection } from './deeds.projection.js';

describe('deeds projection', () => {
  const scene = new ProjectionScene(deedsProjection);

  it('keeps the envelope of every deed of the ledger', async () => {
    await scene.log.append(`ledger-${TEST_ORG}`, sealed(1), sealed(2, { kind: 'admin', action: null }));
    await scene.project();
    expect(await scene.readModels.source.manager.find(DeedRow, { order: { seq: 'ASC' } })).toEqual([
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
        about: {
          tool: 'crm.get_customer',
          agent: testId('agt', 1),
          outcome: 'succeeded',
          level: 'L0',
          verdict: 'VERIFIED',
        },
      },
      expect.objectContaining({
        seq: 2,
        kind: 'admin',
        action: null,
        agent: null,
        prevHash: digestOf('body 1'),
        about: { admin: 'org.created', target: { type: 'org', id: TEST_ORG } },
      }),
    ]);
  });

  it('stops at a deed whose body cannot be read', async () => {
    await scene.log.append(`ledger-${TEST_ORG}`, sealed(1, { body: '{"seq":1}' }));
    await expect(scene.project()).rejects.toThrow('corrupt');
  });
});
