import { describe, expect, it } from 'vitest';
import type { Digest } from '#libs/crypto';
import { type CompanionsEnd, type Payload, RequirementMoved } from '#libs/domain/kernel';
import { PostgresEventStore, TransactionalAppends } from '#libs/infra/event-store';
import { createRelaxedPool } from '#libs/infra/postgres';
import { installSchemas } from '#libs/infra/schemas';
import {
  type CompoundAppendsHarness,
  transactionalAppendsContract,
} from '../../../../test/contracts/compound-appends.contract.js';
import { createTestDatabase } from '../../../../test/support/database.js';
import { firstOf, newStream } from '../../../../test/support/new-event.js';
import { GATE_APPEND_FUNCTIONS } from './gate-append-functions.js';
import { PostgresPayloadStore } from './postgres-payload-store.js';

const failOnError = (error: unknown): never => {
  throw error;
};

const start = async (): Promise<CompoundAppendsHarness> => {
  const { connectionString, drop } = await createTestDatabase();
  const common = { connectionString, applicationName: 'contract' };
  const pool = createRelaxedPool({ ...common, maxConnections: 2, onError: () => undefined });
  await installSchemas(pool, ['gate']);
  const opened: PostgresEventStore[] = [];
  return {
    open: () => {
      const onConnectionLost = () => undefined;
      const store = new PostgresEventStore({ ...common, onConnectionLost, functions: GATE_APPEND_FUNCTIONS });
      opened.push(store);
      const payloads = new PostgresPayloadStore(pool);
      return Promise.resolve({
        store,
        appends: new TransactionalAppends(store, payloads),
        storedBody: ({ owner, kind, digest }: Payload) => payloads.get(owner, kind, digest),
      });
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await pool.end();
      await drop();
    },
  };
};

transactionalAppendsContract('PostgreSQL', start);

describe('appends that bring payloads and require a stream to stand still', () => {
  it('stand whole with companions, or not at all', async () => {
    const harness = await start();
    const { store, appends } = await harness.open();
    const [required, along] = [firstOf(newStream()), firstOf(newStream())];
    await store.append(required);
    const ends: CompanionsEnd[] = [];
    const companions = { appends: [along], requires: new Map(), ended: (end: CompanionsEnd) => ends.push(end) };
    appends.accompany(() => companions, failOnError);
    const append = (stream: string, revision: number) =>
      appends.append(firstOf(stream), {
        payload: payload(stream),
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
    const store = new PostgresEventStore({ ...common, functions: GATE_APPEND_FUNCTIONS });
    const ends: CompanionsEnd[] = [];
    const ended = (end: CompanionsEnd) => ends.push(end);
    store.accompany(() => ({ appends: [firstOf(newStream())], requires: new Map(), ended }), failOnError);
    const streams = [newStream(), newStream()];
    for (const stream of streams) expect((await store.append(firstOf(stream))).revision).toBe(0);
    for (const stream of streams) expect(await store.readStream(stream)).toHaveLength(1);
    expect(ends).toEqual(['unclear']);
    await store.close();
    await drop();
  });
});
