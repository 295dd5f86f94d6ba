import { digestOf } from '#libs/crypto';
import type { OrganizationEvent, PolicyMode } from '#libs/domain/people';
import type { PolicyEvent } from '#libs/domain/policies';
import { PolicyRow, PolicySlotRow, PolicyVersionRow } from '#libs/infra/read-models';
import { describe, expect, it } from 'vitest';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { ProjectionScene } from '../../../../test/support/projection-scene.js';
import { policiesProjection } from './policies.projection.js';

const policy = testId('pol', 1);
const author = { type: 'admin_key', id: testId('key', 1) } as const;

const policyCreated: PolicyEvent = {
  type: 'PolicyCreated',
  data: { org: TEST_ORG, policy, name: 'Support', at: testTime(1) },
};
const versionAdded = (version: number): PolicyEvent => ({
  type: 'PolicyVersionAdded',
  data: {
    org: TEST_ORG,
    policy,
    version_id: testId('pv', version),
    version,
    source: `version: 1 # é ${version}\n`,
    source_hash: digestOf(`source ${version}`),
    version_hash: digestOf(`version ${version}`),
    notes: null,
    author,
    origin: 'user',
    at: testTime(version),
  },
});
const activated = (version: number, mode: PolicyMode = 'enforce'): OrganizationEvent => ({
  type: 'PolicyActivated',
  data: {
    org: TEST_ORG,
    mode,
    policy,
    version_id: testId('pv', version),
    version,
    version_hash: digestOf(`version ${version}`),
    reason: null,
    replaced: null,
    at: testTime(10 + version),
  },
});

describe('policies projection', () => {
  const scene = new ProjectionScene(policiesProjection);
  const given = (...events: readonly PolicyEvent[]) => scene.log.append(`policy-${policy}`, ...events);
  const givenOrg = (...events: readonly OrganizationEvent[]) => scene.log.append(`org-${TEST_ORG}`, ...events);
  const slots = async () => {
    await scene.project();
    return scene.readModels.source.manager.find(PolicySlotRow, { order: { mode: 'ASC' } });
  };

  it('shows a policy with its latest version', async () => {
    await given(policyCreated, versionAdded(1));
    await scene.project();
    expect(await scene.readModels.source.manager.find(PolicyRow)).toEqual([
      { id: policy, org: TEST_ORG, name: 'Support', createdAt: testTime(1), latestVersionId: testId('pv', 1) },
    ]);
    await given(versionAdded(2));
    await scene.project();
    expect(await scene.readModels.source.manager.find(PolicyRow)).toMatchObject([
      { name: 'Support', latestVersionId: testId('pv', 2) },
    ]);
  });

  it('keeps every version as it was added', async () => {
    await given(policyCreated, versionAdded(1), versionAdded(2));
    await scene.project();
    const [first, second, ...others] = await scene.readModels.source.manager.find(PolicyVersionRow, {
      order: { version: 'ASC' },
    });
    expect(others).toEqual([]);
    expect(first).toEqual({
      id: testId('pv', 1),
      org: TEST_ORG,
      policy,
      version: 1,
      source: 'version: 1 # é 1\n',
      sourceBytes: 18,
      sourceHash: digestOf('source 1'),
      versionHash: digestOf('version 1'),
      notes: null,
      author,
      origin: 'user',
      createdAt: testTime(1),
    });
    expect(second).toMatchObject({ version: 2 });
  });

  it('shows what the slots of an organization hold, the enforced and the shadow one apart', async () => {
    await givenOrg(activated(1), activated(2, 'shadow'), activated(3));
    expect(await slots()).toEqual([
      { org: TEST_ORG, mode: 'enforce', policy, versionId: testId('pv', 3), changedAt: testTime(13) },
      { org: TEST_ORG, mode: 'shadow', policy, versionId: testId('pv', 2), changedAt: testTime(12) },
    ]);
  });

  it('shows an emptied slot as empty', async () => {
    await givenOrg(activated(1));
    await slots();
    await givenOrg({
      type: 'PolicyDeactivated',
      data: {
        org: TEST_ORG,
        mode: 'enforce',
        policy,
        version_id: testId('pv', 1),
        reason: null,
        at: testTime(20),
      },
    });
    expect(await slots()).toEqual([
      { org: TEST_ORG, mode: 'enforce', policy: null, versionId: null, changedAt: testTime(20) },
    ]);
  });

  it('is not moved by the other events of an organization', async () => {
    await givenOrg({ type: 'OrganizationStopped', data: { org: TEST_ORG, reason: null, at: testTime(1) } });
    expect(await slots()).toEqual([]);
  });
});
