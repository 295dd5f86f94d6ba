import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AgentEvent, agentDecider } from '#libs/domain/agents';
import { digestOf } from '#libs/crypto';
import {
  type AgentId,
  appendEvents,
  decodeEvent,
  localPeriodAt,
  type OrgId,
  orgChannel,
  streamOf,
  SYSTEM,
} from '#libs/domain/kernel';
import { bearer } from '../../../../test/http/edge-client.js';
import { ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { started, testId } from '../../../../test/support/given-log.js';
import { metadataAt } from '../../../../test/support/given.js';
import { AgentRoutesModule } from './agent-routes.module.js';

const OWNER = testId('usr', 1);
const DEED = expect.stringMatching(/^deed_/) as unknown;

let bench: ApiBench;
let numbers = 0;

beforeAll(async () => {
  bench = await ApiBench.start([AgentRoutesModule]);
});
afterAll(() => bench.close());
beforeEach(() => {
  bench.progress.isHeldUp = false;
});

const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const newName = (): string => `support-${(numbers += 1)}`;
const create = async (changes: object = {}): Promise<Record<string, unknown>> => {
  const { status, json } = await send('POST', '/v1/agents', { name: newName(), ...changes });
  expect(status).toBe(201);
  return json as Record<string, unknown>;
};
const refusalOf = ({ status, error }: { status: number; error: Record<string, unknown> }): unknown[] => [
  status,
  error['code'],
  error['param'],
];
const eventsOf = async (id: unknown): Promise<readonly AgentEvent[]> => {
  const events = await bench.store.readStream(streamOf('agent', String(id)));
  return events.map((recorded) => decodeEvent(recorded).event as AgentEvent);
};
const listed = async (query: string): Promise<readonly Record<string, unknown>[]> => {
  const { status, json } = await bench.get(`/v1/agents${query}`, bearer('admin'));
  expect(status).toBe(200);
  return json?.['data'] as Record<string, unknown>[];
};
/** An agent of an organization that no token of the harness belongs to. */
const strange = async (): Promise<AgentId> => {
  const agent = testId('agt', 900 + (numbers += 1));
  const metadata = { ...metadataAt(), org: testId('org', 9), commandId: `strange ${agent}` };
  const data = { org: testId('org', 9) as OrgId, agent, name: 'strange', labels: {}, owner: null };
  await bench.ledger.runner.run(agentDecider, agent, { type: 'RegisterAgent', data, metadata }, metadata);
  return agent;
};

describe('POST /v1/agents', () => {
  it('answers 201 with the agent, whose owner is the organization’s where a key asks', async () => {
    const name = newName();
    const { status, json } = await send('POST', '/v1/agents', { name, labels: { team: 'support' } });
    expect(status).toBe(201);
    expect(json).toEqual({
      object: 'agent',
      id: expect.stringMatching(/^agt_/),
      name,
      status: 'active',
      status_reason: null,
      labels: { team: 'support' },
      owner: OWNER,
      intent_mode: 'off',
      budgets: { calls_per_day: null, spend_per_day: null },
      active_keys: 0,
      intent_keys: 0,
      created_at: expect.stringMatching(/Z$/),
      deed: DEED,
      deeds: [json?.['deed']],
    });
  });

  it('makes the first key in the same append, and shows its secret', async () => {
    const made = await create({ key: { scopes: ['actions:execute'] }, budgets: { calls_per_day: 5 } });
    const { id, key, secret } = made;
    expect(made).toMatchObject({ active_keys: 1, deeds: [made['deed'], DEED, DEED] });
    expect(key).toMatchObject({ object: 'api_key', agent: id, livemode: false, scopes: ['actions:execute'] });
    expect(String(secret).startsWith(`${String((key as { prefix: string }).prefix)}_`)).toBe(true);
    const types = (await eventsOf(id)).map(({ type }) => type);
    expect(types).toEqual(['AgentRegistered', 'AgentBudgetsSet', 'AgentKeyCreated']);
    const demands = { judgeStop: true };
    expect(await bench.authenticate.byKey(String(secret), demands)).toMatchObject({ agent: id, livemode: false });
  });

  it('says the same of a repetition, without the secret', async () => {
    const headers = { 'Idempotency-Key': 'make-once' };
    const body = { name: newName(), key: { livemode: true } };
    const first = await send('POST', '/v1/agents', body, headers);
    const again = await send('POST', '/v1/agents', body, headers);
    expect(again.headers.get('service-idempotent-replayed')).toBe('true');
    expect(again.json).toEqual({ ...first.json, secret: null });
    expect(await eventsOf(first.json?.['id'])).toHaveLength(2);
  });

  it.each([
    [{ name: '' }, [400, 'validation_failed', 'name']],
    [{ name: 'two\nlines' }, [400, 'validation_failed', 'name']],
    [{ name: undefined }, [400, 'validation_failed', 'name']],
    [{ labels: { Team: 'x' } }, [400, 'validation_failed', 'labels']],
    [{ labels: { team: 7 } }, [400, 'validation_failed', 'labels.team']],
    [{ labels: [] }, [400, 'validation_failed', 'labels']],
    [{ owner: testId('usr', 77) }, [400, 'validation_failed', 'owner']],
    [{ owner: 'somebody' }, [400, 'validation_failed', 'owner']],
    [{ intent_mode: 'on' }, [400, 'validation_failed', 'intent_mode']],
    [{ intent_mode: 'required' }, [409, 'conflict', 'intent_mode']],
    [{ budgets: { calls_per_day: 0 } }, [400, 'validation_failed', 'budgets.calls_per_day']],
    [{ budgets: { calls_per_day: '9' } }, [400, 'validation_failed', 'budgets.calls_per_day']],
    [{ budgets: { spend_per_day: 9 } }, [400, 'validation_failed', 'budgets.spend_per_day']],
    [
      { budgets: { spend_per_day: { amount: 1, currency: 'eur', per: 'day' } } },
      [400, 'validation_failed', 'budgets.spend_per_day'],
    ],
    [{ budgets: { spend_per_day: { amount: 1 } } }, [400, 'validation_failed', 'budgets.spend_per_day.currency']],
    [{ budgets: { per_month: 1 } }, [400, 'validation_failed', 'budgets.per_month']],
    [{ budgets: null }, [400, 'validation_failed', 'budgets']],
    [{ key: { scopes: [] } }, [400, 'validation_failed', 'key.scopes']],
    [{ key: { scopes: ['admin'] } }, [400, 'validation_failed', 'key.scopes']],
    [{ key: { livemode: 'yes' } }, [400, 'validation_failed', 'key.livemode']],
    [{ status: 'active' }, [400, 'validation_failed', 'status']],
  ])('refuses %j', async (changes, refusal) => {
    expect(refusalOf(await send('POST', '/v1/agents', { name: newName(), ...changes }))).toEqual(refusal);
  });

  it('is closed to agents', async () => {
    const answer = await send('POST', '/v1/agents', { name: newName() }, bearer('agent'));
    expect(refusalOf(answer)).toEqual([403, 'insufficient_scope', null]);
  });
});

describe('PATCH /v1/agents/{id}', () => {
  it('seals every change by itself, and nothing that is so already', async () => {
    const { id } = await create({ labels: { team: 'support' } });
    const change = {
      intent_mode: 'optional',
      labels: { team: 'sales' },
      budgets: { calls_per_day: 9, spend_per_day: { amount: 5_000, currency: 'eur' } },
    };
    const { status, json } = await send('PATCH', `/v1/agents/${String(id)}`, change);
    expect([status, json]).toMatchObject([200, { ...change, deeds: [json?.['deed'], DEED, DEED] }]);
    expect(new Set(json?.['deeds'] as string[]).size).toBe(3);
    const again = await send('PATCH', `/v1/agents/${String(id)}`, change);
    expect(again.json).toMatchObject({ ...change, deed: null, deeds: [] });
    expect((await send('PATCH', `/v1/agents/${String(id)}`, {})).json).toMatchObject({ deed: null, deeds: [] });
  });

  it('removes a budget that is null, and leaves the other', async () => {
    const spend = { amount: 5_000, currency: 'eur' };
    const { id } = await create({ budgets: { calls_per_day: 9, spend_per_day: spend } });
    const { json } = await send('PATCH', `/v1/agents/${String(id)}`, { budgets: { calls_per_day: null } });
    expect(json?.['budgets']).toEqual({ calls_per_day: null, spend_per_day: spend });
    const read = await send('GET', `/v1/agents/${String(id)}`);
    expect(read.json?.['budgets']).toEqual({ calls_per_day: null, spend_per_day: spend });
  });

  it('never changes a name', async () => {
    const { id } = await create();
    const answer = await send('PATCH', `/v1/agents/${String(id)}`, { name: 'other' });
    expect(refusalOf(answer)).toEqual([400, 'validation_failed', 'name']);
  });
});

describe('stop, suspend and resume', () => {
  it('change the status, keep the reason, and wake who waits', async () => {
    const { id } = await create();
    const rung: string[] = [];
    const leave = bench.ledger.bus.subscribe(orgChannel(ORG), (what) => rung.push(what));
    const post = (verb: string, body: object = {}) => send('POST', `/v1/agents/${String(id)}/${verb}`, body);
    const stopped = await post('stop', { reason: 'Wrong refunds' });
    expect(stopped).toMatchObject({
      status: 200,
      json: { status: 'stopped', status_reason: 'Wrong refunds', deed: DEED },
    });
    expect((await post('stop')).json).toMatchObject({ status: 'stopped', status_reason: 'Wrong refunds', deed: null });
    expect((await post('suspend')).json).toMatchObject({ status: 'suspended', status_reason: null, deed: DEED });
    expect((await post('stop')).json).toMatchObject({ status: 'suspended', deed: null });
    expect((await post('resume')).json).toMatchObject({ status: 'active', status_reason: null, deed: DEED });
    expect((await post('resume')).json).toMatchObject({ deed: null });
    leave();
    expect(rung).toContain('agents');
    expect(refusalOf(await post('stop', { reason: 'a\nb' }))).toEqual([400, 'validation_failed', 'reason']);
  });

  it('need no body', async () => {
    const { id } = await create();
    expect(await send('POST', `/v1/agents/${String(id)}/stop`)).toMatchObject({ status: 200 });
  });
});

describe('GET /v1/agents', () => {
  it('answers the newest first, page by page', async () => {
    const made = [await create(), await create(), await create()].map(({ id }) => id);
    const first = await send('GET', '/v1/agents?limit=2');
    const { data, has_more, next_cursor } = first.json as {
      data: { id: string }[];
      has_more: true;
      next_cursor: string;
    };
    expect(has_more).toBe(true);
    const second = await listed(`?limit=1&cursor=${next_cursor}`);
    const ids = [...data.map(({ id }) => id), ...second.map(({ id }) => id)];
    expect([...ids].sort()).toEqual([...made].sort());
  });

  it('shows an agent as it is when read alone', async () => {
    const { id } = await create({ labels: { team: 'support' }, key: {} });
    const [found] = await listed(`?q=${String(id)}`);
    expect(found).toEqual((await send('GET', `/v1/agents/${String(id)}`)).json);
    expect(found).toMatchObject({ id, active_keys: 1 });
  });

  it('finds by status, and by what a name or an id contains', async () => {
    const { id, name } = await create({ name: `Refunds ${newName()} 100%_` });
    await send('POST', `/v1/agents/${String(id)}/suspend`, {});
    expect((await listed('?status=suspended,stopped')).map((agent) => agent['id'])).toContain(id);
    expect((await listed('?status=active')).map((agent) => agent['id'])).not.toContain(id);
    expect((await listed('?q=rEFUNDS')).map((agent) => agent['name'])).toEqual([name]);
    expect((await listed('?q=100%25_')).map((agent) => agent['name'])).toEqual([name]);
    expect((await listed(`?q=${String(id).slice(10)}`)).map((agent) => agent['id'])).toEqual([id]);
    expect(await listed('?q=refunds&status=stopped')).toEqual([]);
  });

  it('finds an agent by a key, whatever became of it: by its id, as lists show it and as logs do', async () => {
    const { id } = await create({ key: {} });
    const { json } = await send('GET', `/v1/agents/${String(id)}/keys`);
    const [{ id: key, prefix }] = (json as { data: [{ id: string; prefix: string }] }).data;
    await send('DELETE', `/v1/agents/${String(id)}/keys/${key}`);
    for (const sent of [key, prefix, prefix.slice('svc_test_'.length)]) {
      expect((await listed(`?q=${sent}`)).map((agent) => agent['id'])).toEqual([id]);
    }
    expect(await listed(`?q=${key.slice(0, -1)}`)).toEqual([]);
  });

  it.each([
    ['?status=broken', 'status'],
    ['?q=x', 'q'],
    ['?expand[]=keys', 'expand[]'],
    ['?limit=0', 'limit'],
  ])('refuses %s', async (query, param) => {
    expect(refusalOf(await send('GET', `/v1/agents${query}`))).toEqual([400, 'validation_failed', param]);
  });

  it('says what each has done today, where that is asked for', async () => {
    const { id } = await create();
    const now = new Date().toISOString();
    const act = async (number: number, at: string): Promise<void> => {
      const action = testId('act', number);
      const [submitted] = started(number, { org: ORG, agent: id as AgentId });
      const event = { type: 'ActionSubmitted', data: { ...submitted!.data, at } };
      const metadata = { org: ORG, actor: SYSTEM, requestId: null, commandId: `act ${number}`, now: at };
      await appendEvents(bench.store, streamOf('action', action), 'no_stream', [event], metadata);
    };
    await act(1, '2026-01-01T12:00:00.000Z');
    await act(2, now);
    await act(3, now);
    const [used] = await listed(`?q=${String(id)}&expand[]=usage`);
    const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as unknown;
    expect(used?.['usage']).toEqual({ day, calls: 2, charged_calls: null, spend: [], last_action_at: now });
    const idle = await create();
    const [unused] = await listed(`?q=${String(idle['id'])}&expand[]=usage`);
    expect(unused?.['usage']).toEqual({ day, calls: 0, charged_calls: null, spend: [], last_action_at: null });
    expect((await listed(`?q=${String(id)}`))[0]).not.toHaveProperty('usage');
  });

  it('says what was charged to a budget of spend today, in its currency', async () => {
    const { id } = await create({ budgets: { spend_per_day: { amount: 5_000, currency: 'eur' } } });
    const spent = async () => (await listed(`?q=${String(id)}&expand[]=usage`))[0]?.['usage'] as { spend: unknown };
    expect((await spent()).spend).toEqual([]);
    const day = localPeriodAt('day', 'UTC', Date.now());
    const charge = { budget: `${String(id)}/spend_per_day`, unit: 'eur', amount: 700, limit: 5_000, period: day };
    const wanted = { action: testId('act', 9), digest: digestOf('call'), reservedMs: Date.now(), charges: [charge] };
    await bench.budgets.reserve(wanted);
    expect((await spent()).spend).toEqual([{ amount: 700, currency: 'eur' }]);
  });

  it('says how many calls were charged to a budget of calls today, of which denied ones are none', async () => {
    const { id } = await create({ budgets: { calls_per_day: 2 } });
    const used = async () => (await listed(`?q=${String(id)}&expand[]=usage`))[0]?.['usage'];
    expect(await used()).toMatchObject({ calls: 0, charged_calls: 0 });
    const day = localPeriodAt('day', 'UTC', Date.now());
    const charge = { budget: `${String(id)}/calls_per_day`, unit: 'calls', amount: 1, limit: 2, period: day };
    const wanted = { action: testId('act', 8), digest: digestOf('call'), reservedMs: Date.now(), charges: [charge] };
    await bench.budgets.reserve(wanted);
    expect(await used()).toMatchObject({ calls: 0, charged_calls: 1 });
  });

  it('says how far it is behind', async () => {
    await create();
    bench.progress.isHeldUp = true;
    const { headers } = await send('GET', '/v1/agents');
    expect(headers.get('service-projection-lag')).toBe('1');
  });
});

describe('another organization’s agent', () => {
  it('is as absent as one that never was, on every route', async () => {
    const id = await strange();
    expect(await listed('?q=strange')).toEqual([]);
    const absent = [id, testId('agt', 12_345), 'support-1'];
    for (const path of absent.map((each) => `/v1/agents/${each}`)) {
      const key = `key_${'0'.repeat(26)}`;
      for (const [method, rest, body] of [
        ['GET', '', undefined],
        ['PATCH', '', {}],
        ['POST', '/stop', {}],
        ['POST', '/suspend', {}],
        ['POST', '/resume', {}],
        ['GET', '/keys', undefined],
        ['POST', '/keys', {}],
        ['POST', `/keys/${key}/roll`, {}],
        ['DELETE', `/keys/${key}`, undefined],
        ['GET', '/intent-keys', undefined],
        ['DELETE', `/intent-keys/${'0'.repeat(32)}`, undefined],
      ] as const) {
        expect(refusalOf(await send(method, `${path}${rest}`, body))).toEqual([404, 'not_found', null]);
      }
    }
  });
});
