import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalize, commitmentOf, type JsonObject } from '#libs/crypto';
import { decodeEvent } from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import { bearer } from '../../../../test/http/edge-client.js';
import { AGENT, ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { LedgerModule } from './ledger.module.js';

type Json = Record<string, unknown>;

let bench: ApiBench;
/** By seq, 1: the organization; 2: an executed action of the harness's agent. */
let deeds: readonly LedgerEvent['data'][];

const get = (path: string, key = 'admin') => bench.get(path, bearer(key));
const deed = (seq: number): LedgerEvent['data'] => deeds[seq - 1] as LedgerEvent['data'];

beforeAll(async () => {
  bench = await ApiBench.start([LedgerModule]);
  await bench.ledger.activateKey();
  await bench.ledger.recordAction(ORG, 'executed', AGENT);
  await bench.seal();
  deeds = (await bench.ledger.ledgerOf(ORG)).map((event) => decodeEvent<LedgerEvent>(event).event.data);
});
afterAll(() => bench.close());

describe('GET /v1/deeds/{id}/evidence', () => {
  it('answers with the value of each commitment, and the salt by which it is checked', async () => {
    const { status, json } = await get(`/v1/deeds/${deed(1).deed}/evidence`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ object: 'deed_evidence', deed: deed(1).deed, v: 'service.deed/2' });
    const [data, ...more] = json?.['data'] as Json[];
    expect([data?.['member'], data?.['status'], more]).toEqual(['admin.data_digest', 'given', []]);
    expect(data?.['value']).toMatchObject({ name: expect.any(String) as unknown, timezone: 'UTC' });
    expect(commitmentOf(String(data?.['salt']), canonicalize(data?.['value'] as JsonObject))).toBe(
      data?.['commitment'],
    );
    expect(deed(1).body).toContain(String(data?.['commitment']));
  });

  it('says what it has not: this action was never submitted, so nothing was stored', async () => {
    const { json } = await get(`/v1/deeds/${deed(2).deed}/evidence`);
    expect(json?.['v']).toBe('service.deed/1');
    const statuses = (json?.['data'] as Json[]).map(({ status, salt, value }) => [status, salt, value]);
    expect(statuses.length).toBeGreaterThan(2);
    expect(new Set(statuses.map(String))).toEqual(new Set([String(['missing', null, null])]));
  });

  it('is for people and admin keys: it holds what approvers were shown and said', async () => {
    const { status, error } = await get(`/v1/deeds/${deed(2).deed}/evidence`, 'agent');
    expect([status, error['code'], error['message']]).toEqual([
      403,
      'insufficient_scope',
      expect.stringContaining('GET /v1/actions/{id}'),
    ]);
  });

  it.each(['deed_00000000000000000000000000', 'deed_1', 'act_1'])('does not find %s', async (id) => {
    expect((await get(`/v1/deeds/${id}/evidence`)).error['code']).toBe('not_found');
  });
});
