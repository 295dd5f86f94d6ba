import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearer } from '../../../../test/http/edge-client.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { AgentRoutesModule } from './agent-routes.module.js';

const DEED = expect.stringMatching(/^deed_/) as unknown;

let bench: ApiBench;
let agent = '';

beforeAll(async () => {
  bench = await ApiBench.start([AgentRoutesModule]);
});
afterAll(() => bench.close());
beforeEach(async () => {
  agent = String((await send('POST', '/v1/agents', { name: 'support' })).json?.['id']);
});

const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const keys = (rest = ''): string => `/v1/agents/${agent}/keys${rest}`;
const refusalOf = ({ status, error }: { status: number; error: Record<string, unknown> }): unknown[] => [
  status,
  error['code'],
  error['param'],
];
const create = async (body: object = {}): Promise<{ readonly id: string; readonly secret: string }> => {
  const { status, json } = await send('POST', keys(), body);
  expect(status).toBe(201);
  return { id: String(json?.['id']), secret: String(json?.['secret']) };
};
/** Whom the key pipeline takes a key for, or by which code it refuses it. */
const judge = async (secret: string): Promise<unknown> =>
  bench.authenticate.byKey(secret, { judgeStop: true }).then(
    (caller) => (caller.kind === 'agent' ? caller.agent : caller.kind),
    (error: { code: string }) => error.code,
  );

describe('POST /v1/agents/{id}/keys', () => {
  it('answers 201 with a key that works, and its secret', async () => {
    const { status, json } = await send('POST', keys(), { livemode: true, scopes: ['deeds:read', 'actions:read'] });
    expect([status, json]).toEqual([
      201,
      {
        object: 'api_key',
        id: expect.stringMatching(/^key_/),
        agent,
        prefix: expect.stringMatching(/^svc_live_[0-9a-z]{8}$/),
        livemode: true,
        scopes: ['actions:read', 'deeds:read'],
        created_at: expect.stringMatching(/Z$/),
        expires_at: null,
        revoked_at: null,
        deed: DEED,
        secret: expect.stringMatching(/^svc_live_[0-9a-z]{8}_[0-9a-z]{32}$/),
      },
    ]);
    expect(await judge(String(json?.['secret']))).toBe(agent);
  });

  it('makes a test key of all scopes where nothing is said', async () => {
    const { json } = await send('POST', keys(), {});
    const scopes = ['actions:execute', 'actions:read', 'deeds:read', 'actions:undo'];
    expect(json).toMatchObject({ livemode: false, scopes });
  });

  it('shows a secret once: a repetition has none', async () => {
    const headers = { 'Idempotency-Key': 'one key' };
    const first = await send('POST', keys(), {}, headers);
    const again = await send('POST', keys(), {}, headers);
    expect(again.json).toEqual({ ...first.json, secret: null });
  });

  it('refuses an eleventh active key; a revoked one makes room', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => create()));
    expect(refusalOf(await send('POST', keys(), {}))).toEqual([409, 'conflict', null]);
    await send('DELETE', keys(`/${made[0]!.id}`));
    await create();
  });

  it.each([
    [{ livemode: 1 }, 'livemode'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['admin'] }, 'scopes'],
    [{ scopes: 'actions:read' }, 'scopes'],
    [{ name: 'mine' }, 'name'],
  ])('refuses %j', async (body, param) => {
    expect(refusalOf(await send('POST', keys(), body))).toEqual([400, 'validation_failed', param]);
  });
});

describe('POST /v1/agents/{id}/keys/{key}/roll', () => {
  it('makes a successor of the same scopes; the old key works until the overlap ends', async () => {
    const old = await create({ livemode: true, scopes: ['actions:execute'] });
    const { status, json } = await send('POST', keys(`/${old.id}/roll`), { overlap_seconds: 60 });
    expect([status, json]).toMatchObject([201, { livemode: true, scopes: ['actions:execute'], deed: DEED }]);
    expect(json?.['id']).not.toBe(old.id);
    expect(await judge(old.secret)).toBe(agent);
    expect(await judge(String(json?.['secret']))).toBe(agent);
    const { json: list } = await send('GET', keys());
    const ends = (list?.['data'] as { id: string; expires_at: string | null }[]).map(({ id, expires_at }) => [
      id,
      expires_at,
    ]);
    expect(Object.fromEntries(ends)).toMatchObject({ [old.id]: expect.stringMatching(/Z$/) as unknown });
  });

  it('ends the old key at once with an overlap of 0', async () => {
    const old = await create();
    expect(await send('POST', keys(`/${old.id}/roll`), { overlap_seconds: 0 })).toMatchObject({ status: 201 });
    expect(await judge(old.secret)).toBe('api_key_expired');
  });

  it('takes no body for a day', async () => {
    const old = await create();
    await send('POST', keys(`/${old.id}/roll`));
    const { json } = await send('GET', keys());
    const [, rolled] = json?.['data'] as { created_at: string; expires_at: string }[];
    const lasts = Date.parse(String(rolled?.expires_at)) - Date.now();
    expect([lasts > 86_300_000, lasts <= 86_400_000]).toEqual([true, true]);
  });

  it('refuses a key that was rolled or revoked, an unknown one, and an overlap of more than 7 days', async () => {
    const { id } = await create();
    const roll = (key: string, body: object = {}) => send('POST', keys(`/${key}/roll`), body);
    for (const overlap_seconds of [-1, 604_801, 1.5]) {
      expect(refusalOf(await roll(id, { overlap_seconds }))).toEqual([400, 'validation_failed', 'overlap_seconds']);
    }
    await roll(id);
    expect(refusalOf(await roll(id))).toEqual([409, 'conflict', null]);
    expect(refusalOf(await roll(`key_${'0'.repeat(26)}`))).toEqual([404, 'not_found', null]);
    expect(refusalOf(await roll('key'))).toEqual([404, 'not_found', null]);
  });
});

describe('DELETE /v1/agents/{id}/keys/{key}', () => {
  it('ends a key, once', async () => {
    const { id, secret } = await create();
    const revoked = await send('DELETE', keys(`/${id}`));
    expect(revoked).toMatchObject({ status: 200, json: { id, revoked_at: expect.any(String) as unknown, deed: DEED } });
    expect(await judge(secret)).toBe('api_key_revoked');
    expect((await send('DELETE', keys(`/${id}`))).json).toEqual({ ...revoked.json, deed: null });
  });

  it('knows no key of another agent', async () => {
    const { id } = await create();
    agent = String((await send('POST', '/v1/agents', { name: 'other' })).json?.['id']);
    expect(refusalOf(await send('DELETE', keys(`/${id}`)))).toEqual([404, 'not_found', null]);
  });
});

describe('GET /v1/agents/{id}/keys', () => {
  it('lists every key there was without a secret, the newest first, page by page', async () => {
    const made = [await create(), await create(), await create()];
    await send('DELETE', keys(`/${made[0]!.id}`));
    const seen: Record<string, unknown>[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { json } = await send('GET', keys(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`));
      seen.push(...(json?.['data'] as Record<string, unknown>[]));
      cursor = json?.['next_cursor'] as string | null;
    }
    expect(seen.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort());
    const times = seen.map((key) => String(key['created_at']));
    expect(times).toEqual([...times].sort().reverse());
    expect(seen.every((key) => !('secret' in key))).toBe(true);
    const none = { object: 'list', data: [], has_more: false, next_cursor: null };
    agent = String((await send('POST', '/v1/agents', { name: 'other' })).json?.['id']);
    expect((await send('GET', keys())).json).toEqual(none);
  });
});
