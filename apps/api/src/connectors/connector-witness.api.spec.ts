import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ConnectorId, timestampOf } from '#libs/domain/kernel';
import type { DecoderRowReason } from '#libs/domain/witness';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

const PATIENCE = { timeout: 20_000, interval: 50 };
const NOW = Date.now();

let bench: PeopleBench;
let owner: Browser;

beforeAll(async () => {
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  owner = await bench.ownerBrowser();
});
afterAll(() => bench?.close());

const configOf = (isWitnessed: boolean) => ({
  ...{ host: '127.0.0.1', port: 1, database: 'shop', ssl: 'disable' },
  witness: { enabled: isWitnessed },
});
const create = async (name: string, isWitnessed = true): Promise<ConnectorId> => {
  const made = await owner.post('/v1/connectors', { type: 'database', name, config: configOf(isWitnessed) });
  expect([made.status, made.json]).toMatchObject([201, { name }]);
  return made.json['id'] as ConnectorId;
};
const witnessOf = async (name: string) => (await owner.get(`/v1/connectors/${name}`)).json['witness'];
const decoderIs = (connector: ConnectorId, name: string, reason: DecoderRowReason | null, atMs = NOW) =>
  bench.deployment.decoderRows.save(
    { org: bench.org, connector, name, reason, lagBytes: reason === 'slot_lagging' ? 20_000_000 : 0, position: '0/1F' },
    atMs,
  );
const OFF = { status: 'off', reason: null, lag_bytes: null, position: null, since: null };

describe('the witness of a database connector', () => {
  it('is off where none is asked for, and down before anybody has looked', async () => {
    await create('quiet', false);
    expect(await witnessOf('quiet')).toEqual(OFF);
    await create('fresh');
    expect(await witnessOf('fresh')).toEqual({ ...OFF, status: 'down', reason: 'decoder_down' });
  });

  it('is as its decoder found it, and since when', async () => {
    const id = await create('watched');
    const found = { lag_bytes: 0, position: '0/1F', since: timestampOf(NOW) };
    await decoderIs(id, 'watched', null);
    expect(await witnessOf('watched')).toEqual({ ...found, status: 'healthy', reason: null });
    await decoderIs(id, 'watched', 'slot_lagging');
    expect(await witnessOf('watched')).toMatchObject({
      ...{ status: 'degraded', reason: 'slot_lagging', lag_bytes: 20_000_000 },
    });
    await decoderIs(id, 'watched', 'slot_invalidated');
    expect(await witnessOf('watched')).toMatchObject({ status: 'invalidated', reason: 'slot_invalidated' });
  });

  it('is down where nobody has looked for a minute', async () => {
    const id = await create('silent');
    const seenMs = NOW - 120_000;
    await decoderIs(id, 'silent', null, seenMs);
    expect(await witnessOf('silent')).toMatchObject({
      ...{ status: 'down', reason: 'decoder_down', since: timestampOf(seenMs) },
    });
  });

  it('is off of a disabled one, which says where its slot is left', async () => {
    const id = await create('paused');
    await owner.send('PATCH', '/v1/connectors/paused', { status: 'disabled' });
    await decoderIs(id, 'paused', 'slot_left');
    expect(await witnessOf('paused')).toEqual({ ...OFF, reason: 'slot_left', since: timestampOf(NOW) });
  });
});

describe('a change log that is not read as it should be', () => {
  it('needs attention, a lost one before a late one, while its connector asks for it', async () => {
    const names = ['late', 'lost', 'off', 'well'] as const;
    const reasons = { late: 'slot_lagging', lost: 'log_restored', off: 'decoder_down', well: null } as const;
    const ids = new Map<string, ConnectorId>();
    for (const name of names) {
      ids.set(name, await create(name));
      await decoderIs(ids.get(name) as ConnectorId, name, reasons[name]);
    }
    await owner.send('PATCH', '/v1/connectors/off', { status: 'disabled' });
    await vi.waitFor(async () => {
      const { json } = await owner.get('/v1/connectors');
      expect(
        (json['data'] as readonly { name: string; status: string }[]).find(({ name }) => name === 'off'),
      ).toMatchObject({
        status: 'disabled',
      });
    }, PATIENCE);
    const { json } = await owner.get('/v1/overview');
    const told = (json['attention'] as readonly { connector?: string }[]).filter(({ connector }) =>
      names.some((name) => name === connector),
    );
    const since = timestampOf(NOW);
    expect(told).toEqual([
      {
        ...{ kind: 'slot_invalidated', ids: [ids.get('lost')], connector: 'lost' },
        ...{ reason: 'log_restored', lag_bytes: 0, since },
      },
      {
        ...{ kind: 'slot_lagging', ids: [ids.get('late')], connector: 'late' },
        ...{ reason: 'slot_lagging', lag_bytes: 20_000_000, since },
      },
    ]);
  });
});
