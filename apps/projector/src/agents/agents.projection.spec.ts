import type { AgentEvent } from '#libs/domain/agents';
import type { KeyRecord } from '#libs/domain/people';
import { AgentRow } from '#libs/infra/read-models';
import { describe, expect, it } from 'vitest';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { ProjectionScene } from '../../../../test/support/projection-scene.js';
import { agentsProjection } from './agents.projection.js';

const agent = testId('agt', 1);
const about = (seconds: number) => ({ org: TEST_ORG, agent, at: testTime(seconds) });
const registered: AgentEvent = {
  type: 'AgentRegistered',
  data: { ...about(1), name: 'support-1', labels: { team: 'support' }, owner: testId('usr', 1) },
};
const record = (number: number): KeyRecord => ({
  key: testId('key', number),
  prefix: `prefix0${number}`,
  hash: 'a keyed hash',
  livemode: false,
});
const keyCreated: AgentEvent = {
  type: 'AgentKeyCreated',
  data: { ...about(2), record: record(1), scopes: ['actions:execute'] },
};
const keyRolled: AgentEvent = {
  type: 'AgentKeyRolled',
  data: { ...about(3), key: testId('key', 1), successor: record(2), expires_at: testTime(60) },
};

describe('agents projection', () => {
  const scene = new ProjectionScene(agentsProjection);
  const given = (...events: readonly AgentEvent[]) => scene.log.append(`agent-${agent}`, ...events);
  const rows = async (): Promise<AgentRow[]> => {
    await scene.project();
    return scene.readModels.source.manager.find(AgentRow, { order: { id: 'ASC' } });
  };

  it('shows a new agent', async () => {
    await given(registered);
    expect(await rows()).toEqual([
      {
        id: agent,
        org: TEST_ORG,
        name: 'support-1',
        status: 'active',
        createdAt: testTime(1),
        folded: expect.objectContaining({ labels: { team: 'support' }, intentMode: 'off', keys: [], intentKeys: [] }),
      },
    ]);
  });

  it('shows a stop with its reason, and that it was lifted', async () => {
    await given(registered);
    await given({ type: 'AgentStopped', data: { ...about(2), reason: 'looks odd' } });
    expect(await rows()).toMatchObject([{ status: 'stopped', folded: { statusReason: 'looks odd' } }]);
    await given({ type: 'AgentResumed', data: { ...about(3), reason: null } });
    expect(await rows()).toMatchObject([{ status: 'active', folded: { statusReason: null } }]);
  });

  it('folds on from a row: a key that was created in one batch is rolled in the next', async () => {
    await given(registered, keyCreated);
    await rows();
    await given(keyRolled);
    const [row] = await rows();
    expect(row?.folded.keys).toMatchObject([
      { key: testId('key', 1), expiresAt: testTime(60) },
      { key: testId('key', 2), lineage: testId('key', 1), scopes: ['actions:execute'], expiresAt: null },
    ]);
  });

  it('keeps no hash of a secret', async () => {
    await given(registered, keyCreated, keyRolled);
    expect(JSON.stringify(await rows())).not.toContain('a keyed hash');
  });

  it('shows settings as they are now', async () => {
    await given(
      registered,
      { type: 'AgentLabelsSet', data: { ...about(2), labels: {} } },
      { type: 'AgentBudgetsSet', data: { ...about(3), calls_per_day: 7, spend_per_day: null } },
    );
    const budgets = { calls_per_day: 7, spend_per_day: null };
    expect(await rows()).toMatchObject([{ folded: { labels: {}, budgets } }]);
  });

  // Rows of an older shape would be read as the newer one. Raise `version` with the shape, then this list.
  it('keeps rows in the shape of its version', async () => {
    await given(registered);
    const [row] = await rows();
    expect([agentsProjection.version, Object.keys(row!.folded).sort()]).toEqual([
      1,
      [
        'agent',
        'budgets',
        'createdAt',
        'intentKeys',
        'intentMode',
        'keys',
        'labels',
        'name',
        'org',
        'owner',
        'status',
        'statusReason',
      ],
    ]);
  });
});
