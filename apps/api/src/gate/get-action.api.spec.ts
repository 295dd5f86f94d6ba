import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOf } from '#libs/crypto';
import type { ActionEvent, Decision, ExecutionOutcome, Submission } from '#libs/domain/gate';
import { appendEvents, streamOf, SYSTEM, type ActionId, type PayloadKind } from '#libs/domain/kernel';
import { allowed, denied, finished, started, testId, testTime, witnessed } from '../../../../test/support/given-log.js';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

type Json = Record<string, unknown>;

const HTTP = { host: 'crm.example.com', method: 'GET', path: '/customers/42' };
const REQUEST = { args: { id: '42' }, mode: 'gateway', tool: 'crm.get_customer' };
const INPUT = JSON.stringify({ ...REQUEST, request: { http: HTTP } });
const RESULT = '{"body":{"name":"Ada","token":"[redacted]"},"headers":{},"status":200}';
const SOURCE = `version: 1
default: deny
rules:
  - id: read-crm
    description: Whoever supports may read.
    match:
      tools:
        - crm.get_*
    decision: allow
  - id: plain
    decision: deny
`;

let bench: PeopleBench;
let caller: Browser;
let decided: Pick<Decision, 'policy' | 'policy_version'>;
beforeAll(async () => {
  bench = await PeopleBench.start();
  caller = bench.browser();
  const { status, json } = await caller.post('/v1/policies', { name: 'Support', source: SOURCE }, bench.adminKey);
  expect([status, json]).toMatchObject([201, { object: 'policy' }]);
  decided = {
    policy: json['id'] as Decision['policy'],
    policy_version: (json['latest_version'] as Json)['id'] as Decision['policy_version'],
  };
});
afterAll(() => bench?.close());

/** A recorded action with this decision and, if it was allowed, this outcome. */
const recorded = async (
  number: number,
  decision: Decision,
  outcome: Partial<ExecutionOutcome> | null = null,
  by: Partial<Pick<Submission, 'agent' | 'key'>> = {},
): Promise<ActionId> => {
  const { payloads, database } = bench.deployment;
  const [action, org] = [testId('act', number), bench.org];
  const put = (kind: PayloadKind, body: string) =>
    payloads.put({ owner: action, org, kind, digest: digestOf(body), body });
  await Promise.all([put('policy_input', INPUT), put('result', RESULT)]);
  const [submitted, , ...execution] = started(number, { org, input_digest: digestOf(INPUT), ...by }) as [ActionEvent];
  const events: ActionEvent[] = [
    submitted,
    { type: 'ActionDecided', data: { action, decision: { ...decision, ...decided }, at: testTime(number) } },
    ...(outcome === null ? [] : [...execution, finished(number, outcome), witnessed(number)]),
  ];
  const metadata = { org, actor: SYSTEM, requestId: null, commandId: `made ${number}`, now: testTime(number) };
  await appendEvents(database.store, streamOf('action', action), 'no_stream', events, metadata);
  return action;
};

const detailOf = async (action: ActionId): Promise<Json> => {
  const read = async () => (await caller.get(`/v1/actions/${action}`, bench.adminKey)).json;
  await vi.waitFor(async () => expect((await read())['state']).toBe('sealed'), 20_000);
  return read();
};

describe('GET /v1/actions/{id}', () => {
  it('tells what the rule means, what was sent, what was redacted, and every deed', async () => {
    const detail = await detailOf(await recorded(101, allowed, { result_digest: digestOf(RESULT) }));
    expect(detail).toMatchObject({
      decision: { outcome: 'allow', rule_id: 'read-crm', rule: { description: 'Whoever supports may read.' } },
      request: REQUEST,
      sent: HTTP,
      redactions: ['body.token'],
      deeds: [{ object: 'deed_summary', id: detail['deed'], kind: 'action', action: detail['id'] }],
    });
  });

  it('names the key that submitted it by id and prefix, also after the key has ended', async () => {
    const made = (await caller.post('/v1/agents', { name: 'keyed', key: {} }, bench.adminKey)).json;
    const agent = made['id'] as Submission['agent'];
    const path = `/v1/agents/${agent}/keys`;
    const { json } = await caller.get(path, bench.adminKey);
    const [{ id: key, prefix }] = json['data'] as [{ id: Submission['key']; prefix: string }];
    const action = await recorded(104, allowed, {}, { agent, key });
    expect((await detailOf(action))['key']).toEqual({ id: key, prefix });
    await caller.send('DELETE', `${path}/${key}`, undefined, bench.adminKey);
    expect((await detailOf(action))['key']).toEqual({ id: key, prefix });
    expect((await detailOf(await recorded(105, allowed, {})))['key']).toEqual({ id: testId('key', 1), prefix: null });
  });

  it('tells of a refusal that nothing was sent', async () => {
    const byRule: Decision = { ...denied, source: 'rule', rule_id: 'plain' };
    expect(await detailOf(await recorded(102, byRule))).toMatchObject({
      decision: { outcome: 'deny', rule: { description: null } },
      sent: null,
      redactions: [],
    });
  });

  it('names no rule if none decided', async () => {
    expect(await detailOf(await recorded(103, denied))).toMatchObject({ decision: { rule_id: null, rule: null } });
  });
});
