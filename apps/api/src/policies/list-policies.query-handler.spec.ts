import type { DomainError } from '#libs/domain/kernel';
import { PolicyRow, PolicySlotRow, PolicyVersionRow, ReadModels } from '#libs/infra/read-models';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caughtUp } from '../../../../test/support/caught-up.js';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { policyRow, policyVersionRow, writeRows } from '../../../../test/support/given-rows.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { ListPolicies, ListPoliciesHandler } from './list-policies.query-handler.js';
import { ListPolicyVersions, ListPolicyVersionsHandler } from './list-policy-versions.query-handler.js';
import { countThatFits, PAGE_SOURCES_LIMIT_BYTES } from './policy-pages.js';

const OTHER_ORG = testId('org', 2);
/** Policy 2 has versions 1 to 3, the latest with the id pv 2. */
const older = (version: number) => policyVersionRow(20 + version, { policy: testId('pol', 2), version });

describe('lists of policies', () => {
  let readModels: TestReadModels;

  beforeAll(async () => {
    readModels = await createTestReadModels();
    const { source } = readModels;
    await writeRows(source, PolicyRow, [
      policyRow(1),
      policyRow(2),
      policyRow(3, { latestVersionId: null }),
      policyRow(4, { org: OTHER_ORG }),
    ]);
    await writeRows(source, PolicyVersionRow, [
      policyVersionRow(1),
      older(1),
      older(2),
      policyVersionRow(2, { version: 3 }),
      policyVersionRow(4, { org: OTHER_ORG }),
    ]);
    const slot = { org: TEST_ORG, changedAt: testTime(9) };
    await writeRows(source, PolicySlotRow, [
      { ...slot, mode: 'enforce', policy: testId('pol', 2), versionId: older(1).id },
      { ...slot, mode: 'shadow', policy: testId('pol', 1), versionId: testId('pv', 1) },
      { ...slot, org: OTHER_ORG, mode: 'enforce', policy: testId('pol', 2), versionId: testId('pv', 2) },
    ]);
  });
  afterAll(() => readModels.drop());

  const policies = (limit = 20, after: { createdAt: string; id: string } | null = null, org = TEST_ORG) =>
    new ListPoliciesHandler(new ReadModels(readModels.source), caughtUp()).execute(
      new ListPolicies(org, { limit, after }),
    );
  const versions = (policy = testId('pol', 2), limit = 20, after: { version: number } | null = null, org = TEST_ORG) =>
    new ListPolicyVersionsHandler(new ReadModels(readModels.source), caughtUp()).execute(
      new ListPolicyVersions(org, policy, { limit, after }),
    );

  it('show the newest policy first, with its latest version and what it has in the slots', async () => {
    expect(await policies()).toEqual({
      rows: [
        {
          policy: policyRow(2),
          latestVersion: { version: policyVersionRow(2, { version: 3 }), activation: null },
          enforced: older(1).id,
          shadow: null,
        },
        {
          policy: policyRow(1),
          latestVersion: { version: policyVersionRow(1), activation: 'shadow' },
          enforced: null,
          shadow: testId('pv', 1),
        },
      ],
      hasMore: false,
      lagEvents: 0,
    });
  });

  it('go on where a page of policies ended', async () => {
    const first = await policies(1);
    expect(first).toMatchObject({ rows: [{ policy: { name: 'Policy 2' } }], hasMore: true });
    expect(await policies(1, first.rows[0]!.policy)).toMatchObject({
      rows: [{ policy: { name: 'Policy 1' } }],
      hasMore: false,
    });
  });

  it('show the newest version of a policy first, and which one is active', async () => {
    const { rows } = await versions();
    expect(rows.map(({ version, activation }) => [version.version, activation])).toEqual([
      [3, null],
      [2, null],
      [1, 'enforce'],
    ]);
    expect(rows[2]!.version).toEqual(older(1));
  });

  it('go on where a page of versions ended', async () => {
    expect(await versions(undefined, 2)).toMatchObject({ hasMore: true });
    expect(await versions(undefined, 2, { version: 2 })).toMatchObject({
      rows: [{ version: { version: 1 } }],
      hasMore: false,
    });
  });

  it('show an organization its own policies alone', async () => {
    expect((await policies(20, null, OTHER_ORG)).rows.map(({ policy }) => policy.name)).toEqual(['Policy 4']);
    await expect(versions(testId('pol', 2), 20, null, OTHER_ORG)).rejects.toMatchObject({
      code: 'not_found',
    } satisfies Partial<DomainError>);
  });

  it('end a page before its sources are too large together, and hold one source at least', () => {
    const half = PAGE_SOURCES_LIMIT_BYTES / 2;
    expect(countThatFits([])).toBe(0);
    expect(countThatFits([1, 2, 3])).toBe(3);
    expect(countThatFits([half, half, 1])).toBe(2);
    expect(countThatFits([PAGE_SOURCES_LIMIT_BYTES + 1, 1])).toBe(1);
    expect(countThatFits([1, PAGE_SOURCES_LIMIT_BYTES])).toBe(1);
  });

  it('say that there is more where the size ended a page', async () => {
    const large = 'x'.repeat(200 * 1024);
    const numbers = Array.from({ length: 15 }, (_, index) => 101 + index);
    await writeRows(
      readModels.source,
      PolicyVersionRow,
      numbers.map((number) => policyVersionRow(number, { policy: testId('pol', 1), version: number, source: large })),
    );
    const first = await versions(testId('pol', 1));
    expect(first.rows.map(({ version }) => version.version)).toEqual(numbers.slice(-10).reverse());
    expect(first.hasMore).toBe(true);
    const rest = await versions(testId('pol', 1), 20, { version: 106 });
    expect(rest.rows).toHaveLength(6);
    expect(rest.hasMore).toBe(false);
  });
});
