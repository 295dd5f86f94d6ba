import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { digestOfJson } from '#libs/crypto';
import { approvalOf } from '#libs/domain/gate';
import type { ReplayId } from '#libs/domain/kernel';
import { CompiledPolicies } from '#libs/domain/policies';
import { OPEN_MAX, runReplay, type RecordedCall, type ReplayEnd, type ReplayResult } from '#libs/domain/replays';
import { PostgresLeases } from '#libs/infra/leases';
import { ActionRow, ApprovalRow } from '#libs/infra/read-models';
import { claimOf, PostgresRecordedCalls, PostgresReplayRows, PostgresReplayWork } from '#libs/infra/replays';
import { SystemClock } from '#libs/infra/runtime';
import { bearer } from '../../../../test/http/edge-client.js';
import { ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { CANDIDATE, compiled, someCalls } from '../../../../test/support/arbitrary-calls.js';
import { whileActionsAreCrowded } from '../../../../test/support/crowded-actions.js';
import { submission, testId, testTime } from '../../../../test/support/given-log.js';
import { actionRow } from '../../../../test/support/given-rows.js';
import { inOneOrder, naiveReplay } from '../../../../test/support/naive-replay.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { ReplaysModule } from './replays.module.js';

type Json = Record<string, unknown>;

const WINDOW = { from: testTime(0), to: testTime(3_600) };

let bench: ApiBench;
let policy: string;
let versions: readonly string[];

beforeAll(async () => {
  bench = await ApiBench.start([PoliciesModule, ReplaysModule]);
  await bench.ownAdminKey();
  const made = await send('POST', '/v1/policies', { name: 'Support', source: CANDIDATE });
  policy = String(made.json?.['id']);
  versions = [String((made.json?.['latest_version'] as Json)['id'])];
  // The first look at the projection empties its tables.
  await started();
});
afterAll(() => bench.close());
beforeEach(async () => {
  await bench.pool.query('truncate replays.replays, read_models.actions, read_models.approvals, gate.payloads');
});

const send = (method: string, path: string, body?: unknown) =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const start = (body: object = WINDOW, version: number | string = 1) =>
  send('POST', `/v1/policies/${policy}/versions/${version}/replay`, body);
const started = async (body: object = WINDOW): Promise<Json> => {
  const { status, json } = await start(body);
  expect(status).toBe(202);
  return json as Json;
};

/** As the projector and the gate would have written them. */
const record = async (calls: readonly RecordedCall[]): Promise<void> => {
  for (const call of calls) {
    const { action, createdAt, agent, tool, decision, errorCode, approval, inputDigest, input } = call;
    const folded = { ...actionRow(1).folded, submission: { ...submission(1), action, input_digest: inputDigest } };
    const row = { ...actionRow(1), id: action, org: ORG, createdAt, agent, tool, decision, errorCode, folded };
    await bench.write(ActionRow, [row]);
    if (approval !== null) {
      const asked = { action, agent, tool, status: approval, expiresAt: createdAt, deed: null, folded };
      await bench.write(ApprovalRow, [{ ...asked, id: approvalOf(action), org: ORG }]);
    }
    if (input !== null) {
      await bench.pool.query(
        `insert into gate.payloads (owner, kind, digest, org, body) values ($1, 'policy_input', $2, $3, $4)`,
        [action, inputDigest, ORG, input],
      );
    }
  }
};

/** What a worker's program does with a replay, in this process. */
const run = async (id: unknown): Promise<ReplayEnd> => {
  const replay = id as ReplayId;
  const { pool, ledger } = bench;
  const parts = {
    calls: new PostgresRecordedCalls(pool),
    policies: new CompiledPolicies(ledger.streams),
    clock: new SystemClock(),
    pause: () => Promise.resolve(),
  };
  const lease = await new PostgresLeases(bench.connectionString).tryTake(claimOf(replay));
  if (lease === null) throw new Error('somebody else holds the claim');
  try {
    return await runReplay(parts, new PostgresReplayWork(lease.session, replay), lease.lost);
  } finally {
    await lease.release();
  }
};

describe('POST /v1/policies/{id}/versions/{v}/replay', () => {
  it('answers 202 with a replay that is queued', async () => {
    await record(fc.sample(someCalls(5, 5), 1)[0] ?? []);
    expect(await started()).toEqual({
      object: 'replay',
      id: expect.stringMatching(/^rpl_/),
      purpose: 'manual',
      status: 'queued',
      policy,
      policy_version: versions[0],
      version: 1,
      ...WINDOW,
      compared_with: { basis: 'recorded', policy: null, policy_version: null, version: null },
      progress: { done: 0, total: 5 },
      requested_by: { type: 'admin_key', id: expect.stringMatching(/^key_/) },
      result: null,
      digest: null,
      error_code: null,
      created_at: expect.stringMatching(/Z$/),
      ended_at: null,
    });
  });

  it('replays the 14 days up to now unless a window is sent', async () => {
    const { from, to, created_at: createdAt } = await started({});
    expect([to, Date.parse(String(to)) - Date.parse(String(from))]).toEqual([createdAt, 14 * 24 * 3_600_000]);
  });

  it.each([
    [{ from: '2026-10-02T00:00:00Z', to: '2026-10-01T00:00:00Z' }, 'replay_window_invalid', 'from'],
    [{ from: '2026-01-01T00:00:00Z', to: '2026-06-01T00:00:00Z' }, 'replay_window_invalid', 'from'],
    [{ from: 'yesterday' }, 'validation_failed', 'from'],
    [{ to: 5 }, 'validation_failed', 'to'],
    [{ since: '2026-10-01T00:00:00Z' }, 'validation_failed', 'since'],
  ])('refuses %j with %s, and makes nothing', async (body, code, param) => {
    const { status, error } = await start(body);
    expect([status, error['code'], error['param']]).toEqual([400, code, param]);
    expect((await send('GET', '/v1/replays')).json?.['data']).toEqual([]);
  });

  it('refuses a window of more than 1,000,000 actions', async () => {
    await record(fc.sample(someCalls(1, 1), 1)[0] ?? []);
    const { status, error } = await whileActionsAreCrowded(bench.pool, () => start());
    expect([status, error['code'], error['param']]).toEqual([400, 'replay_too_large', 'from']);
  });

  it('refuses one more than may be open, until one has ended', async () => {
    const open = [];
    for (let count = 0; count < OPEN_MAX; count += 1) open.push(await started());
    const { status, error } = await start();
    expect([status, error['code']]).toEqual([409, 'conflict']);
    await send('POST', `/v1/replays/${String(open[0]?.['id'])}/cancel`);
    await started();
  });

  it.each([
    ['a version that there is not', () => start(WINDOW, 99)],
    ['a policy that there is not', () => send('POST', `/v1/policies/${testId('pol', 9)}/versions/1/replay`, WINDOW)],
  ])('does not find %s', async (_what, ask) => expect((await ask()).status).toBe(404));
});

describe('a replay that is run', () => {
  it('finds what a plain loop over the same inputs finds, and shows it with its digest', async () => {
    await fc.assert(
      fc.asyncProperty(someCalls(0, 30), async (calls) => {
        await bench.pool.query('truncate replays.replays, read_models.actions, read_models.approvals, gate.payloads');
        await record(calls);
        const { id } = await started();
        expect(await run(id)).toBe('succeeded');
        const { json } = await send('GET', `/v1/replays/${String(id)}`);
        const result = json?.['result'] as ReplayResult;
        expect(inOneOrder(result)).toEqual(inOneOrder(naiveReplay(compiled(CANDIDATE), calls)));
        expect(json).toMatchObject({
          status: 'succeeded',
          digest: digestOfJson(result),
          progress: { done: calls.length, total: calls.length },
          ended_at: expect.stringMatching(/Z$/),
        });
      }),
      { numRuns: 15 },
    );
  });

  it('goes through more actions than a page holds, each once, and only those of its window and organization', async () => {
    const [first] = fc.sample(someCalls(1, 1), 1)[0] ?? [];
    const many = Array.from({ length: 600 }, (_, number) => ({
      ...(first as RecordedCall),
      // In no order of time: ids are opaque.
      action: testId('act', 1 + ((number * 4_001) % 6_007)),
      createdAt: testTime(Math.floor(number / 7)),
    }));
    await record([...many, { ...(first as RecordedCall), action: testId('act', 9_001), createdAt: WINDOW.to }]);
    await bench.pool.query(`update read_models.actions set org = 'org_of_others' where id = $1`, [many[0]?.action]);
    const { id } = await started();
    await run(id);
    const { json } = await send('GET', `/v1/replays/${String(id)}`);
    expect(json?.['progress']).toEqual({ done: 599, total: 599 });
  });

  it('compares with the version that was in force when it was asked for, whatever came into force since', async () => {
    const [calls = []] = fc.sample(someCalls(30, 30), 1);
    await record(calls);
    const source = 'version: 1\ndefault: allow\n';
    const made = (await send('POST', '/v1/policies', { name: 'Open', source })).json as Json;
    const inForce = { policy: made['id'], policy_version: (made['latest_version'] as Json)['id'], version: 1 };
    const slot = `/v1/policies/${String(made['id'])}`;
    await send('POST', `${slot}/versions/1/activate`, { mode: 'enforce' });
    const { id, compared_with: compared } = await started();
    expect(compared).toEqual({ basis: 'enforced', ...inForce });
    await send('POST', `${slot}/deactivate`, { mode: 'enforce' });
    await run(id);
    const { json } = await send('GET', `/v1/replays/${String(id)}`);
    const expected = naiveReplay(compiled(CANDIDATE), calls, compiled(source));
    expect(json?.['compared_with']).toEqual(compared);
    expect(inOneOrder(json?.['result'] as ReplayResult)).toEqual(inOneOrder(expected));
    expect((await started())['compared_with']).toMatchObject({ basis: 'recorded' });
  });

  it('is claimed by one process, which others do not look for', async () => {
    const rows = new PostgresReplayRows(bench.pool);
    const { id } = await started();
    const lease = await new PostgresLeases(bench.connectionString).tryTake(claimOf(id as ReplayId));
    expect(await rows.unclaimed()).toBeNull();
    await expect(run(id)).rejects.toThrow('somebody else');
    await lease?.release();
    expect(await rows.unclaimed()).toBe(id);
  });
});

describe('POST /v1/replays/{id}/cancel', () => {
  it('ends one that is open, once, and nobody runs it', async () => {
    const { id } = await started();
    const cancelled = await send('POST', `/v1/replays/${String(id)}/cancel`);
    expect(cancelled).toMatchObject({ status: 200, json: { status: 'cancelled', result: null, error_code: null } });
    expect((await send('POST', `/v1/replays/${String(id)}/cancel`)).json).toEqual(cancelled.json);
    expect(await run(id)).toBe('left');
  });

  it('refuses one that has ended', async () => {
    const { id } = await started();
    await run(id);
    const { status, error } = await send('POST', `/v1/replays/${String(id)}/cancel`);
    expect([status, error['code']]).toEqual([409, 'conflict']);
  });
});

describe('GET /v1/replays', () => {
  it('lists the newest first, page by page, and those of one policy', async () => {
    const ids = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await started())['id']);
    const first = (await send('GET', '/v1/replays?limit=2')).json as Json;
    const next = (await send('GET', `/v1/replays?limit=2&cursor=${String(first['next_cursor'])}`)).json as Json;
    const listed = [...(first['data'] as Json[]), ...(next['data'] as Json[])].map((replay) => replay['id']);
    expect(listed).toHaveLength(3);
    expect(new Set(listed)).toEqual(new Set(ids));
    const of = async (id: string) => ((await send('GET', `/v1/replays?policy=${id}`)).json?.['data'] as Json[]).length;
    expect([await of(policy), await of(testId('pol', 9))]).toEqual([3, 0]);
  });

  it('shows nothing of another organization', async () => {
    const { id } = await started();
    await bench.pool.query('update replays.replays set org = $1', [testId('org', 77)]);
    expect((await send('GET', '/v1/replays')).json?.['data']).toEqual([]);
    expect((await send('GET', `/v1/replays/${String(id)}`)).status).toBe(404);
    expect((await send('POST', `/v1/replays/${String(id)}/cancel`)).status).toBe(404);
  });
});
