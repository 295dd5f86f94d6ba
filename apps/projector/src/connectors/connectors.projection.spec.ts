import { digestOf } from '#libs/crypto';
import type { ConnectorEvent } from '#libs/domain/connectors';
import { ConnectorRow } from '#libs/infra/read-models';
import { describe, expect, it } from 'vitest';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { ProjectionScene } from '../../../../test/support/projection-scene.js';
import { connectorsProjection } from './connectors.projection.js';

const connector = testId('con', 1);
const about = (seconds: number, id = connector) => ({
  org: TEST_ORG,
  connector: id,
  name: 'crm',
  at: testTime(seconds),
});
const created = (id = connector): ConnectorEvent => ({
  type: 'ConnectorCreated',
  data: {
    ...about(1, id),
    type: 'rest',
    description: 'Customers',
    config: { base_url: 'https://crm.example', tools: [{ name: 'get_customer' }] },
    config_hash: digestOf('config'),
  },
});
const deleted = (seconds: number, id = connector): ConnectorEvent => ({
  type: 'ConnectorDeleted',
  data: { ...about(seconds, id), credential_version: null },
});
const credential = { kind: 'bearer', fields: ['token'], hint: 'a1b2', version: 'v1' } as const;

describe('connectors projection', () => {
  const scene = new ProjectionScene(connectorsProjection);
  const given = (...events: readonly ConnectorEvent[]) => scene.log.append(`connector-${TEST_ORG}-crm`, ...events);
  const rows = async (): Promise<ConnectorRow[]> => {
    await scene.project();
    return scene.readModels.source.manager.find(ConnectorRow, { order: { id: 'ASC' } });
  };

  it('shows a new connector with its tools and without a credential', async () => {
    await given(created());
    expect(await rows()).toEqual([
      {
        id: connector,
        org: TEST_ORG,
        name: 'crm',
        type: 'rest',
        status: 'active',
        createdAt: testTime(1),
        folded: expect.objectContaining({ config: (created().data as { config: object }).config, credential: null }),
      },
    ]);
  });

  it('shows what is known about a credential, and that it is gone', async () => {
    await given(created());
    await given({ type: 'ConnectorCredentialsUpdated', data: { ...about(2), ...credential } });
    expect((await rows())[0]?.folded.credential).toEqual({ ...credential, setAt: testTime(2) });
    await given({ type: 'ConnectorCredentialsRemoved', data: { ...about(3), version: 'v1' } });
    expect((await rows())[0]?.folded.credential).toBeNull();
  });

  it('shows a disabled connector, whoever disabled it', async () => {
    await given(created(), {
      type: 'ConnectorDisabled',
      data: { ...about(2), reason: 'livemode_detected' },
    });
    expect(await rows()).toMatchObject([{ status: 'disabled', folded: { disabledReason: 'livemode_detected' } }]);
    await given({ type: 'ConnectorUpdated', data: { ...about(3), status: 'active' } });
    expect(await rows()).toMatchObject([{ status: 'active', folded: { disabledReason: null } }]);
  });

  it('has no row for a deleted connector, in one batch or in two', async () => {
    await given(created(), deleted(2));
    expect(await rows()).toEqual([]);
    await given(created(testId('con', 2)));
    expect(await rows()).toHaveLength(1);
    await given(deleted(4, testId('con', 2)));
    expect(await rows()).toEqual([]);
  });

  it('shows the next life of a name as another connector', async () => {
    await given(created());
    await rows();
    await given(deleted(2), created(testId('con', 2)));
    expect(await rows()).toMatchObject([{ id: testId('con', 2), name: 'crm', folded: { credential: null } }]);
  });

  // Rows of an older shape would be read as the newer one. Raise `version` with the shape, then this list.
  it('keeps rows in the shape of its version', async () => {
    await given(created());
    const [row] = await rows();
    expect([connectorsProjection.version, Object.keys(row!.folded).sort()]).toEqual([
      2,
      [
        'config',
        'configHash',
        'createdAt',
        'credential',
        'description',
        'disabledReason',
        'id',
        'name',
        'org',
        'status',
        'type',
        'updatedAt',
      ],
    ]);
  });
});
