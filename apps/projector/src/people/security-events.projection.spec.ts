import type { SessionEvent } from '#libs/domain/people';
import { SecurityEventRow } from '#libs/infra/read-models';
import { describe, expect, it } from 'vitest';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { ProjectionScene } from '../../../../test/support/projection-scene.js';
import { securityEventsProjection } from './security-events.projection.js';

const session = testId('ses', 1);
const about = (seconds: number) => ({ org: TEST_ORG, session, user: testId('usr', 1), at: testTime(seconds) });
const started: SessionEvent = {
  type: 'SessionStarted',
  data: { ...about(1), membership: testId('mem', 1), via: 'code' },
};
const ended: SessionEvent = { type: 'SessionEnded', data: { ...about(2), why: 'everywhere' } };

describe('security events projection', () => {
  const scene = new ProjectionScene(securityEventsProjection);

  it('shows who signed in and out, and how', async () => {
    await scene.log.append(`session-${session}`, started, ended);
    await scene.project();
    const rows = await scene.readModels.source.manager.find(SecurityEventRow, { order: { createdAt: 'ASC' } });
    const common = { org: TEST_ORG, user: testId('usr', 1), session };
    expect(rows).toMatchObject([
      { ...common, type: 'user.signed_in', via: 'code', why: null, createdAt: testTime(1) },
      { ...common, type: 'user.signed_out', via: null, why: 'everywhere', createdAt: testTime(2) },
    ]);
  });
});
