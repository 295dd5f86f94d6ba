import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deedOf, decodeEvent } from '#libs/domain/kernel';
import {
  catalogueOf,
  CONNECTOR_CATALOGUE,
  CREDENTIAL_FIELDS,
  OPTIONAL_CREDENTIAL_FIELDS,
  SERVED_TYPES,
} from '#libs/domain/connectors';
import { bearer } from '../../../../test/http/edge-client.js';
import { ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { testId } from '../../../../test/support/given-log.js';
import { ConnectorsModule } from './connectors.module.js';

const TOKEN = 'tok_0123456789abcdefghij';
const TOOL = {
  name: 'get',
  method: 'GET',
  path: '/v1/customers/{id}',
  args: { id: { in: 'path', type: 'string', required: true } },
};
const CONFIG = {
  base_url: 'https://api.example.com',
  auth: { kind: 'bearer' },
  allowed_methods: ['GET', 'POST'],
  allowed_path_prefixes: ['/v1'],
  tools: [TOOL, { name: 'create', method: 'POST', path: '/v1/customers' }],
};

let bench: ApiBench;
let numbers = 0;

beforeAll(async () => {
  bench = await ApiBench.start([ConnectorsModule]);
});
afterAll(() => bench.close());
beforeEach(() => {
  bench.executions.isRunning = false;
  bench.progress.isHeldUp = false;
});

const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const newName = (): string => `crm-${(numbers += 1)}`;
const create = async (changes: object = {}): Promise<Record<string, unknown>> => {
  const { status, json } = await send('POST', '/v1/connectors', {
    type: 'rest',
    name: newName(),
    config: CONFIG,
    ...changes,
  });
  expect(status).toBe(201);
  return json as Record<string, unknown>;
};
/** The deed that will seal the last event of a connector's stream, and that event's type. */
const lastChange = async (name: unknown): Promise<[string, string | null]> => {
  const events = await bench.store.readStream(`connector-${ORG}-${String(name)}`);
  const last = decodeEvent(events.at(-1) as (typeof events)[number]);
  return [last.event.type, deedOf(last)];
};
const refusalOf = ({ status, error }: { status: number; error: Record<string, unknown> }): unknown[] => [
  status,
  error['code'],
  error['param'],
];

describe('POST /v1/connectors', () => {
  it('answers 201 with the connector, its tools and the deed of its making', async () => {
    const name = newName();
    const { status, json } = await send('POST', '/v1/connectors', {
      type: 'rest',
      name,
      description: 'Customers',
      config: CONFIG,
    });
    expect(status).toBe(201);
    expect(json).toEqual({
      object: 'connector',
      id: expect.stringMatching(/^con_/),
      name,
      type: 'rest',
      description: 'Customers',
      status: 'active',
      config: expect.objectContaining({ base_url: 'https://api.example.com', timeout_ms: 10_000 }),
      config_hash: expect.stringMatching(/^sha256:/),
      credential: null,
      health: { status: 'not_tested', reason: null, tested_at: null, last_test: null },
      tools: [
        {
          object: 'tool',
          name: `${name}.get`,
          connector: json?.['id'],
          title: null,
          description: null,
          side_effect: 'read',
          levels: ['L0'],
          read_back: null,
          input_schema: expect.objectContaining({ required: ['id'], additionalProperties: false }),
        },
        expect.objectContaining({ name: `${name}.create`, side_effect: 'write' }),
      ],
      held_tools: 0,
      created_at: json?.['updated_at'],
      updated_at: expect.stringMatching(/Z$/),
      deed: (await lastChange(name))[1],
    });
  });

  it.each([
    [{ type: 'ftp' }, [400, 'validation_failed', 'type']],
    [{ name: 'Crm' }, [400, 'validation_failed', 'name']],
    [{ name: 'mcp' }, [400, 'validation_failed', 'name']],
    [{ name: undefined }, [400, 'validation_failed', 'name']],
    [{ config: [] }, [400, 'validation_failed', 'config']],
    [
      { config: { ...CONFIG, tools: [{ ...TOOL, method: 'BREW' }] } },
      [400, 'validation_failed', 'config.tools[0].method'],
    ],
    [{ config: { ...CONFIG, base_url: 'https://inner.example.com' } }, [400, 'destination_blocked', 'config.base_url']],
    [{ description: null }, [400, 'validation_failed', 'description']],
    [{ tools: [] }, [400, 'validation_failed', 'tools']],
  ])('refuses %j', async (changes, refusal) => {
    const answer = await send('POST', '/v1/connectors', { type: 'rest', name: newName(), config: CONFIG, ...changes });
    expect(refusalOf(answer)).toEqual(refusal);
  });

  it.each(['https://inner.example.com', 'https://169.254.169.254', 'https://127.0.0.1'])(
    'says of every address that is not open the same, without a promise: %s',
    async (base_url) => {
      const { json } = await send('POST', '/v1/connectors', {
        type: 'rest',
        name: newName(),
        config: { ...CONFIG, base_url },
      });
      expect(json?.['error']).toMatchObject({
        param: 'config.base_url',
        message:
          'The address of config.base_url is not open to connectors. Use a public address, in production at port 443; private ones and other ports an operator opens in SERVICE_EGRESS_ALLOW, never this service itself.',
      });
    },
  );

  it('refuses a name that is in use with 409', async () => {
    const { name } = await create();
    expect(refusalOf(await send('POST', '/v1/connectors', { type: 'rest', name, config: CONFIG }))).toEqual([
      409,
      'conflict',
      'name',
    ]);
  });

  it('makes one connector however often it is sent under one Idempotency-Key', async () => {
    const name = newName();
    const body = { type: 'rest', name, config: CONFIG };
    const first = await send('POST', '/v1/connectors', body, { 'Idempotency-Key': name });
    const again = await send('POST', '/v1/connectors', body, { 'Idempotency-Key': name });
    expect([first.status, again.status, again.headers.get('service-idempotent-replayed')]).toEqual([201, 201, 'true']);
    expect(again.json).toEqual(first.json);
    expect(await bench.store.readStream(`connector-${ORG}-${name}`)).toHaveLength(1);
  });
});

describe('GET /v1/connectors/{id}', () => {
  it('finds a connector by its id and by its name, as soon as it was made', async () => {
    const made = await create();
    for (const id of [made['id'], made['name']]) {
      const { status, json } = await send('GET', `/v1/connectors/${String(id)}`);
      expect([status, { ...json, deed: made['deed'] }]).toEqual([200, made]);
    }
  });

  it.each(['nothing', testId('con', 9), testId('pol', 9), 'CRM', 'a.b', '%2e%2e'])('does not find %s', async (id) => {
    expect(refusalOf(await send('GET', `/v1/connectors/${id}`))).toEqual([404, 'not_found', null]);
  });

  it('does not find another organization’s, nor a life that has ended', async () => {
    const made = await create();
    await send('DELETE', `/v1/connectors/${String(made['name'])}`);
    await create({ name: made['name'] });
    expect((await send('GET', `/v1/connectors/${String(made['id'])}`)).status).toBe(404);
    expect((await send('GET', `/v1/connectors/${String(made['name'])}`)).json).not.toMatchObject({ id: made['id'] });
  });
});

describe('PATCH /v1/connectors/{id}', () => {
  it('changes what is sent and seals it', async () => {
    const { id, name, config_hash } = await create();
    const config = { ...CONFIG, timeout_ms: 500 };
    const { status, json } = await send('PATCH', `/v1/connectors/${String(id)}`, {
      description: 'New',
      config,
      expected_config_hash: config_hash,
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({ id, description: 'New', status: 'active', config: { timeout_ms: 500 } });
    expect(['ConnectorUpdated', json?.['deed']]).toEqual(await lastChange(name));
    const cleared = await send('PATCH', `/v1/connectors/${String(id)}`, { description: null, status: 'disabled' });
    expect(cleared.json).toMatchObject({ description: null, status: 'disabled' });
  });

  it('seals nothing where nothing changes', async () => {
    const { id, name } = await create();
    const { status, json } = await send('PATCH', `/v1/connectors/${String(id)}`, { status: 'active' });
    expect([status, json?.['deed'], (await lastChange(name))[0]]).toEqual([200, null, 'ConnectorCreated']);
  });

  it.each([
    [{ expected_config_hash: 'zz' }, [400, 'validation_failed', 'expected_config_hash']],
    [{ expected_config_hash: `sha256:${'0'.repeat(64)}`, config: CONFIG }, [409, 'conflict', 'expected_config_hash']],
    [{ status: 'gone' }, [400, 'validation_failed', 'status']],
    [{ config: { ...CONFIG, base_url: 'https://inner.example.com' } }, [400, 'destination_blocked', 'config.base_url']],
    [{ config: null }, [400, 'validation_failed', 'config']],
    [{ config: {} }, [400, 'validation_failed', 'config.base_url']],
    [{ name: 'other' }, [400, 'validation_failed', 'name']],
    [{ description: 5 }, [400, 'validation_failed', 'description']],
  ])('refuses %j, naming the field', async (changes, refusal) => {
    const { id } = await create();
    const answer = await send('PATCH', `/v1/connectors/${String(id)}`, changes);
    expect(refusalOf(answer)).toEqual(refusal);
    expect((answer.json?.['error'] as { message: string }).message).toContain(String(refusal[2]));
  });
});

describe('DELETE /v1/connectors/{id}', () => {
  it('answers with what was deleted and the deed', async () => {
    const { id, name } = await create();
    const { status, json } = await send('DELETE', `/v1/connectors/${String(name)}`);
    const deed = (await lastChange(name))[1];
    expect([status, json]).toEqual([200, { object: 'connector', id, name, deleted: true, deed }]);
    expect((await send('DELETE', `/v1/connectors/${String(name)}`)).status).toBe(404);
  });

  it('is a conflict while an action on it executes', async () => {
    const { id } = await create();
    bench.executions.isRunning = true;
    expect(refusalOf(await send('DELETE', `/v1/connectors/${String(id)}`))).toEqual([409, 'conflict', null]);
  });
});

describe('credentials', () => {
  it('are written, told by what may be known, and removed', async () => {
    const { id, name } = await create();
    const path = `/v1/connectors/${String(id)}/credentials`;
    const put = await send('PUT', path, { kind: 'bearer', secret: { token: TOKEN } });
    const facts = { kind: 'bearer', fields: ['token'], hint: 'ghij', set_at: put.json?.['updated_at'] };
    expect([put.status, put.json?.['credential']]).toEqual([200, facts]);
    expect(['ConnectorCredentialsUpdated', put.json?.['deed']]).toEqual(await lastChange(name));
    const removed = await send('DELETE', path);
    expect([removed.status, removed.json?.['credential']]).toEqual([200, null]);
    expect(['ConnectorCredentialsRemoved', removed.json?.['deed']]).toEqual(await lastChange(name));
    expect((await send('DELETE', path)).json?.['deed']).toBeNull();
  });

  it('stand in no answer, no log line and no event', async () => {
    const { id, name } = await create();
    const put = await send('PUT', `/v1/connectors/${String(id)}/credentials`, {
      kind: 'bearer',
      secret: { token: TOKEN },
    });
    const read = await send('GET', `/v1/connectors/${String(id)}`);
    const events = await bench.store.readStream(`connector-${ORG}-${String(name)}`);
    const seen = [put.text, read.text, JSON.stringify(bench.edge.lines), ...events.map(({ data }) => data)].join('\n');
    expect(seen).not.toContain(TOKEN.slice(0, -4));
  });

  it.each([
    [{ kind: 'basic', secret: { username: 'a', password: 'b' } }, [400, 'validation_failed', 'kind']],
    [{ kind: 'none', secret: { token: TOKEN } }, [400, 'validation_failed', 'secret.token']],
    [{ kind: 'bearer', secret: {} }, [400, 'validation_failed', 'secret.token']],
    [{ kind: 'bearer', secret: TOKEN }, [400, 'validation_failed', 'secret']],
    [{ secret: { token: TOKEN } }, [400, 'validation_failed', 'kind']],
    [{ kind: 'bearer', secret: { token: 'x'.repeat(16_384) } }, [413, 'request_too_large', null]],
  ])('are refused as %j', async (body, refusal) => {
    const { id } = await create();
    expect(refusalOf(await send('PUT', `/v1/connectors/${String(id)}/credentials`, body))).toEqual(refusal);
  });

  it('that are too large are told the limit, and what to send', async () => {
    const { id } = await create();
    const body = { kind: 'bearer', secret: { token: 'x'.repeat(16_384) } };
    const { json } = await send('PUT', `/v1/connectors/${String(id)}/credentials`, body);
    expect((json?.['error'] as { message: string }).message).toBe(
      'The body is larger than the 16384 bytes that this endpoint takes. Send the secret of this connector alone, in the fields that its kind has.',
    );
  });

  it('need a connector', async () => {
    expect((await send('PUT', '/v1/connectors/nothing/credentials', { kind: 'none' })).status).toBe(404);
    expect((await send('DELETE', `/v1/connectors/${testId('con', 9)}/credentials`)).status).toBe(404);
  });
});

describe('GET /v1/connectors and GET /v1/tools', () => {
  it('show what was made, changed and deleted before they were asked', async () => {
    const [kept, gone] = [await create(), await create()];
    await send('PATCH', `/v1/connectors/${String(kept['name'])}`, { description: 'Changed' });
    await send('DELETE', `/v1/connectors/${String(gone['name'])}`);
    const { json } = await send('GET', '/v1/connectors?limit=100');
    const listed = json?.['data'] as Record<string, unknown>[];
    expect(listed[0]).toMatchObject({ id: kept['id'], description: 'Changed', tools: [{}, {}] });
    expect(listed.map(({ id }) => id)).not.toContain(gone['id']);
  });

  it('go on where a page ended, in the middle of a connector’s tools too', async () => {
    const whole = (await send('GET', '/v1/tools?limit=100')).json?.['data'] as Record<string, unknown>[];
    expect(whole.length).toBeGreaterThan(4);
    const names = whole.map(({ name }) => name);
    const connectors = names.map((name) => String(name).split('.')[0]);
    expect(connectors).toEqual(connectors.toSorted());
    const paged: unknown[] = [];
    for (let cursor = ''; ;) {
      const { json } = await send('GET', `/v1/tools?limit=3${cursor}`);
      paged.push(...(json?.['data'] as Record<string, unknown>[]).map(({ name }) => name));
      if (json?.['has_more'] !== true) break;
      cursor = `&cursor=${String(json['next_cursor'])}`;
    }
    expect(paged).toEqual(names);
  });

  it('say how far they are behind', async () => {
    await create();
    bench.progress.isHeldUp = true;
    for (const path of ['/v1/connectors', '/v1/tools']) {
      const { status, headers } = await send('GET', path);
      expect([status, headers.get('service-projection-lag')]).toEqual([200, '1']);
    }
  });
});

describe('the catalogue', () => {
  it('has an entry for every type that is served, and every kind of credential with its fields', () => {
    expect(CONNECTOR_CATALOGUE.map(({ type }) => type).toSorted()).toEqual([...SERVED_TYPES].toSorted());
    const kinds = CONNECTOR_CATALOGUE.flatMap(({ credentials }) => credentials);
    for (const { kind, fields } of kinds)
      expect([kind, fields.map(({ name }) => name)]).toEqual([kind, CREDENTIAL_FIELDS[kind]]);
    expect(new Set(kinds.map(({ kind }) => kind))).toEqual(new Set(Object.keys(CREDENTIAL_FIELDS)));
    for (const { kind, fields } of kinds)
      expect(fields.flatMap(({ name, optional }) => (optional === true ? [name] : []))).toEqual(
        OPTIONAL_CREDENTIAL_FIELDS[kind] ?? [],
      );
  });

  it('is a list with a tag, in production without what is for development; who knows it gets 304', async () => {
    const { status, json, headers } = await send('GET', '/v1/connector-types');
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, max-age=300']);
    const data = catalogueOf({ isProduction: true }).map(({ type }) => ({ object: 'connector_type', type }));
    expect(json).toMatchObject({ object: 'list', has_more: false, data });
    const etag = String(headers.get('etag'));
    expect(etag).toMatch(/^"sha256:[0-9a-f]{64}"$/);
    const again = await send('GET', '/v1/connector-types', undefined, { 'If-None-Match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
  });

  it('gives one entry, with a tag of its own', async () => {
    const { status, json, headers } = await send('GET', '/v1/connector-types/rest');
    expect([status, json?.['title'], json?.['status']]).toEqual([200, 'REST API', 'stable']);
    const known = { 'If-None-Match': String(headers.get('etag')) };
    expect((await send('GET', '/v1/connector-types/rest', undefined, known)).status).toBe(304);
    expect(refusalOf(await send('GET', '/v1/connector-types/ftp'))).toEqual([404, 'not_found', null]);
  });
});

describe('an agent key', () => {
  it.each([
    ['GET', '/v1/connectors'],
    ['POST', '/v1/connectors'],
    ['GET', '/v1/connectors/crm'],
    ['PATCH', '/v1/connectors/crm'],
    ['DELETE', '/v1/connectors/crm'],
    ['PUT', '/v1/connectors/crm/credentials'],
    ['DELETE', '/v1/connectors/crm/credentials'],
    ['GET', '/v1/connector-types'],
    ['GET', '/v1/connector-types/rest'],
    ['GET', '/v1/tools'],
  ])('may not %s %s', async (method, path) => {
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    const answer = await send(method, path, body, bearer('agent'));
    expect(refusalOf(answer)).toEqual([403, 'insufficient_scope', null]);
  });
});
