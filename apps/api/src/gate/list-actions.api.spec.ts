import { Module } from '@nestjs/common';
import type { AgentId, KeyId } from '#libs/domain/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer } from '../../../../test/http/edge-client.js';
import { AGENT, ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { started, testId } from '../../../../test/support/given-log.js';
import { AgentRoutesModule } from '../agents/agent-routes.module.js';
import { NamedKeys } from '../agents/named-keys.js';
import { ListAnswers } from '../lists/list-answers.js';
import { ListActionsController } from './list-actions.controller.js';
import { ListActionsHandler } from './list-actions.query-handler.js';

type Json = Record<string, unknown>;

@Module({ controllers: [ListActionsController], providers: [ListActionsHandler, ListAnswers, NamedKeys] })
class ActionsListModule {}

let bench: ApiBench;
const OTHER = testId('agt', 77);

const get = (query = '', key = 'admin') => bench.get(`/v1/actions${query}`, bearer(key));
const rowsOf = ({ json }: { json: Json | null }): Json[] => json?.['data'] as Json[];
const agentsOf = (answer: { json: Json | null }): unknown[] => rowsOf(answer).map(({ agent }) => (agent as Json)['id']);

beforeAll(async () => {
  bench = await ApiBench.start([ActionsListModule, AgentRoutesModule]);
  await bench.ledger.activateKey();
  await bench.ledger.recordAction(ORG, 'refused', AGENT);
  await bench.ledger.recordAction(ORG, 'executed', OTHER);
  await bench.seal();
  await bench.ledger.recordAction(ORG, 'executed', AGENT);
});
afterAll(() => bench.close());

describe('GET /v1/actions', () => {
  it('lists actions without results and reasons, sealed ones with their deed', async () => {
    const answer = await get();
    expect([answer.status, answer.json]).toMatchObject([200, { object: 'list', has_more: false, next_cursor: null }]);
    const rows = rowsOf(answer);
    expect(rows).toHaveLength(3);
    expect(rows.map(({ state, deed }) => [state, deed === null]).toSorted()).toEqual([
      ['recorded', true],
      ['sealed', false],
      ['sealed', false],
    ]);
    for (const row of rows) {
      expect(row).toMatchObject({ object: 'action', tool: 'crm.update_customer' });
      expect(Object.keys((row['execution'] ?? {}) as Json)).not.toContain('result');
      expect(Object.keys((row['witness'] ?? {}) as Json)).not.toContain('reasons');
    }
  });

  it('shows an agent only its own actions, whatever its filters are', async () => {
    expect(agentsOf(await get('', 'agent'))).toEqual([AGENT, AGENT]);
    expect(agentsOf(await get(`?agent=${OTHER}`, 'agent'))).toEqual([]);
    expect(agentsOf(await get('', 'stranger'))).toEqual([]);
    expect(agentsOf(await get(`?agent=${OTHER}`))).toEqual([OTHER]);
  });

  it('continues after a page, and takes the cursor from the same caller only', async () => {
    const first = await get('?limit=2');
    const cursor = `?limit=2&cursor=${String(first.json?.['next_cursor'])}`;
    const ids = [...rowsOf(first), ...rowsOf(await get(cursor))].map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    const { status, error } = await get(cursor, 'agent');
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', 'cursor']);
  });

  it.each([
    ['state=sealed', 2],
    ['state=recorded,executing', 1],
    ['decision=deny', 1],
    ['decision=allow,deny', 3],
    ['tool=crm.*', 3],
    ['tool=crm.get', 0],
    ['q=policy_den', 1],
    ['shadow_differs=true', 0],
    ['created_at[gte]=2027-01-01T00:00:00Z', 0],
  ])('narrows by %s', async (query, count) => {
    expect(rowsOf(await get(`?${query}`))).toHaveLength(count);
  });

  it.each([
    ['agent=support', 'agent'],
    ['key=support', 'key'],
    [`key=svc_live_k3y9prf0_${'0'.repeat(32)}`, 'key'],
    ['tool=a*b*c*d*', 'tool'],
    ['state=done', 'state'],
    ['decision=', 'decision'],
    ['verdict=verified', 'verdict'],
    ['level=L3', 'level'],
    ['on_behalf_of=', 'on_behalf_of'],
    ['created_at[gte]=now', 'created_at[gte]'],
    ['created_at[lt]=9999-12-31T23:59:59-01:00', 'created_at[lt]'],
    ['created_at=2026-10-01T00:00:00Z', 'created_at'],
    ['q=x', 'q'],
    ['shadow_differs=false', 'shadow_differs'],
    ['limit=x', 'limit'],
    ['page=2', 'page'],
  ])('refuses %s, param %s', async (query, param) => {
    const { status, error } = await get(`?${query}`);
    expect([status, error['type'], error['code'], error['param']]).toEqual([
      400,
      'invalid_request_error',
      'validation_failed',
      param,
    ]);
  });

  describe('of one key', () => {
    const post = async (path: string, body: object): Promise<Json> => {
      const headers = { ...bearer('admin'), 'Content-Type': 'application/json' };
      const { json } = await bench.send('POST', path, { headers, body: JSON.stringify(body) });
      return json as Json;
    };
    let key: { id: string; prefix: string };
    let actions: string[];

    beforeAll(async () => {
      const { id: agent } = (await post('/v1/agents', { name: 'keyed' })) as { id: AgentId };
      const made = [await post(`/v1/agents/${agent}/keys`, {}), await post(`/v1/agents/${agent}/keys`, {})] as {
        id: KeyId;
        prefix: string;
      }[];
      const streams: string[] = [];
      for (const { id } of [...made, made[0]!]) {
        streams.push((await bench.ledger.record(ORG, started(1, { key: id }), agent)).stream);
      }
      key = made[0]!;
      actions = [streams[0]!, streams[2]!].map((stream) => stream.slice('action-'.length));
    });

    const listed = async (sent: string, as = 'admin'): Promise<string[]> =>
      rowsOf(await get(`?key=${sent}`, as)).map(({ id }) => id as string);

    it('lists its calls by its id or its prefix, and each names it', async () => {
      for (const sent of [key.id, key.prefix, key.prefix.slice('svc_test_'.length)]) {
        expect((await listed(sent)).toSorted()).toEqual(actions.toSorted());
      }
      expect(rowsOf(await get(`?key=${key.prefix}`))).toMatchObject([{ key: { id: key.id } }, { key: { id: key.id } }]);
    });

    it('finds nothing for an unknown key', async () => {
      expect([await listed('svc_live_00000000'), await listed(testId('key', 99))]).toEqual([[], []]);
    });

    it('shows its calls only to callers who may see its agent', async () => {
      for (const sent of [key.id, key.prefix]) {
        expect([await listed(sent, 'neighbour'), await listed(sent, 'stranger')]).toEqual([[], []]);
      }
    });

    it('continues after a page, and takes the cursor with the same key only', async () => {
      const first = await get(`?key=${key.prefix}&limit=1`);
      const cursor = String(first.json?.['next_cursor']);
      const second = await get(`?key=${key.prefix}&limit=1&cursor=${cursor}`);
      expect([...rowsOf(first), ...rowsOf(second)].map(({ id }) => id).toSorted()).toEqual(actions.toSorted());
      const { status, error } = await get(`?limit=1&cursor=${cursor}`);
      expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', 'cursor']);
    });
  });

  it('says how far it is behind', async () => {
    bench.progress.isHeldUp = true;
    await bench.ledger.recordAction(ORG);
    const { status, headers } = await get();
    bench.progress.isHeldUp = false;
    expect([status, headers.get('service-projection-lag')]).toEqual([200, '1']);
  });
});
