import { describe, expect, it } from 'vitest';
import type { Digest } from '#libs/crypto';
import { type CompanionsEnd, type Payload, RequirementMoved } from '#libs/domain/kernel';
import { PostgresEventStore } from '#libs/infra/event-store';
import { createRelaxedPool } from '#libs/infra/postgres';
import { installSchemas } from '#libs/infra/schemas';
import type { EventStoreHarness } from '../../../../test/contracts/event-store.contract.js';
import { accompaniedAppendContract } from '../../../../test/contracts/event-store/accompanied-append.contract.js';
import { createTestDatabase } from '../../../../test/support/database.js';
import { firstOf, newStream } from '../../../../test/support/new-event.js';

/** The function `gate.append_accompanied` is installed with the gate's tables. */
const start = async (): Promise<EventStoreHarness> => {
  const { connectionString, drop } = await createTestDatabase();
  const common = { connectionString, applicationName: 'contract' };
  const pool = createRelaxedPool({ ...common, maxConnections: 1, onError: () => undefined });
  await installSchemas(pool, ['gate']);
  await pool.end();
  const opened: PostgresEventStore[] = [];
  return {
    open: () => {
      const store = new PostgresEventStore({ ...common, onConnectionLost: () => undefined, storesPayloads: true });
      opened.push(store);
      return Promise.resolve(store);
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await drop();
    },
  };
};

accompaniedAppendContract('postgres', start);

describe('appends that bring payloads and require a stream to stand still', () => {
  it('stand whole with companions, or not at all', async () => {
    const harness = await start();
    const store = await harness.open();
    const [required, along] = [firstOf(newStream()), firstOf(newStream())];
    await store.append(required);
    const ends: CompanionsEnd[] = [];
    store.accompany(() => ({ appends: [along], requires: new Map(), ended: (end) => ends.push(end) }));
    const append = (stream: string, revision: number) =>
      store.append({
        ...firstOf(stream),
        payloads: [payload(stream)],
        requires: new Map([[required.stream, revision]]),
      });
    const [refused, written] = [newStream(), newStream()];
    await expect(append(refused, 1)).rejects.toBeInstanceOf(RequirementMoved);
    expect(await store.readStream(refused)).toEqual([]);
    expect(await store.readStream(along.stream)).toEqual([]);
    await append(written, 0);
    expect(await store.readStream(written)).toHaveLength(1);
    expect(await store.readStream(along.stream)).toHaveLength(1);
    expect(ends).toEqual(['left_out', 'written']);
    await harness.close();
  });
});

const payload = (owner: string): Payload => ({
  owner,
  org: 'org_1',
  kind: 'policy_input',
  digest: `sha256:${'0'.repeat(64)}` as Digest,
  body: '{}',
});

describe('appends whose companions the database cannot take', () => {
  it('go without them', async () => {
    const { connectionString, drop } = await createTestDatabase();
    const common = { connectionString, applicationName: 'a spec', onConnectionLost: () => undefined };
    // A schema without the gate's tables, and so without the function `gate.append_accompanied`.
    const store = new PostgresEventStore({ ...common, storesPayloads: true });
    const ends: CompanionsEnd[] = [];
    store.accompany(() => ({
      appends: [firstOf(newStream())],
      requires: new Map(),
      ended: (end) => ends.push(end),
    }));
    const streams = [newStream(), newStream()];
    for (const stream of streams) expect((await store.append(firstOf(stream))).revision).toBe(0);
    for (const stream of streams) expect(await store.readStream(stream)).toHaveLength(1);
    expect(ends).toEqual(['unclear']);
    await store.close();
    await drop();
  });

  it('go alone if the source of companions fails', async () => {
    const { connectionString, drop } = await createTestDatabase();
    const common = { connectionString, applicationName: 'a spec', onConnectionLost: () => undefined };
    const store = new PostgresEventStore({ ...common, storesPayloads: true });
    await store.append(firstOf(newStream()));
    store.accompany(() => {
      throw new Error('a defect');
    });
    expect((await store.append(firstOf(newStream()))).revision).toBe(0);
    await store.close();
    await drop();
  });
});
