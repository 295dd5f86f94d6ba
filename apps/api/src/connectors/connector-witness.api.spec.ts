import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConnectorId, timestampOf } from '#libs/domain/kernel';
import type { DecoderRowReason } from '#libs/domain/witness';
import { PostgresDecoderRows } from '#libs/infra/connector-health';
import { bearer } from '../../../../test/http/edge-client.js';
import { ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { ConnectorsModule } from './connectors.module.js';

const NOW = Date.now();
const OFF = { status: 'off', reason: null, lag_bytes: null, position: null, since: null };

let bench: ApiBench;

beforeAll(async () => {
  // As in development, where a database may be anywhere.
  bench = await ApiBench.start([ConnectorsModule], {
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
    resolve: () => Promise.resolve(['10.0.0.1']),
  });
});
afterAll(() => bench?.close());

const send = async (method: string, path: string, body?: unknown) => {
  const headers = { ...bearer('admin'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) };
  return bench.send(method, path, { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
};
const create = async (name: string, isWitnessed = true): Promise<ConnectorId> => {
  const config = { host: 'db.example.com', database: 'shop', witness: { enabled: isWitnessed } };
  const { status, json } = await send('POST', '/v1/connectors', { type: 'database', name, config });
  expect([status, json]).toMatchObject([201, { name }]);
  return (json as { id: ConnectorId }).id;
};
const witnessOf = async (name: string) =>
  ((await send('GET', `/v1/connectors/${name}`)).json as Record<string, unknown>)['witness'];
const decoderIs = (connector: ConnectorId, name: string, reason: DecoderRowReason | null, atMs = NOW) =>
  new PostgresDecoderRows(bench.pool).save(
    { org: ORG, connector, name, reason, lagBytes: reason === 'slot_lagging' ? 20_000_000 : 0, position: '0/1F' },
    atMs,
  );

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
    expect((await send('PATCH', '/v1/connectors/paused', { status: 'disabled' })).status).toBe(200);
    await decoderIs(id, 'paused', 'slot_left');
    expect(await witnessOf('paused')).toEqual({ ...OFF, reason: 'slot_left', since: timestampOf(NOW) });
  });
});

describe('GET /v1/connectors/{id}/witness', () => {
  const ask = (name: string, who: 'admin' | 'agent' = 'admin') =>
    bench.send('GET', `/v1/connectors/${name}/witness`, { headers: bearer(who) });

  it('names the slot and the publication, of the config or of the connector, and says how the decoder is', async () => {
    const id = await create('read');
    const own = `ags_${id.slice('con_'.length).toLowerCase()}`;
    const found = {
      ...{ object: 'connector_witness', connector: id, slot: own, publication: own, watch_bypass: false },
      ...{ status: 'down', reason: 'decoder_down', lag_bytes: null, position: null, since: null },
    };
    expect(await ask('read')).toMatchObject({ status: 200, json: found });
    const witness = { enabled: true, slot: 'theirs', publication: 'theirs_too' };
    const config = { host: 'db.example.com', database: 'shop', witness, watch_bypass: true };
    await send('PATCH', '/v1/connectors/read', { config });
    await decoderIs(id, 'read', 'slot_lagging');
    const { status, json } = await ask(id);
    expect([status, json]).toEqual([
      200,
      {
        ...{ ...found, slot: 'theirs', publication: 'theirs_too', watch_bypass: true },
        ...{ status: 'degraded', reason: 'slot_lagging', lag_bytes: 20_000_000, position: '0/1F' },
        since: timestampOf(NOW),
      },
    ]);
  });

  it('of a disabled one says that its decoder is off', async () => {
    await create('idle');
    await send('PATCH', '/v1/connectors/idle', { status: 'disabled' });
    expect(await ask('idle')).toMatchObject({ status: 200, json: { status: 'off', reason: null } });
  });

  it('is refused where no witness is asked for, where there is no such connector, and to an agent', async () => {
    await create('unwitnessed', false);
    expect(await ask('unwitnessed')).toMatchObject({
      status: 409,
      json: { error: { code: 'witness_not_configured' } },
    });
    expect(await ask('nobody')).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    expect((await ask('unwitnessed', 'agent')).status).toBe(403);
  });
});
