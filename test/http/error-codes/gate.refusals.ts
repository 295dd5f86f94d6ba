import { NEVER_REMOVED } from './lab.js';
import type { RefusalGroup, Verdict } from './refusal.js';

const DENIED: Verdict = [403, 'policy_error', 'policy_denied', null];
const UNKNOWN: Verdict = [404, 'invalid_request_error', 'tool_unknown', null];
const invalid = (param: string): Verdict => [400, 'invalid_request_error', 'validation_failed', param];

/** Every refusal is sealed, and its message is the decision's own sentence, verbatim (rule GATE-4). */
export const GATE: RefusalGroup = {
  title: 'the gate',
  refusals: [
    {
      rule: 'what a rule denies, in the rule’s own words',
      verdict: DENIED,
      message: NEVER_REMOVED,
      carries: 'action',
      provoke: ({ act }) => act('lab.remove', 'open'),
    },
    {
      rule: 'what a rule denies that has no words of its own',
      verdict: DENIED,
      message: /^The rule no-archive /,
      carries: 'action',
      provoke: ({ act }) => act('lab.archive', 'open'),
    },
    {
      rule: 'the same refusal again, with its key',
      verdict: DENIED,
      message: NEVER_REMOVED,
      headers: { 'service-idempotent-replayed': 'true' },
      carries: 'action',
      provoke: async ({ act }) => {
        const headers = { 'Idempotency-Key': 'a refusal' };
        await act('lab.remove', 'twice', { headers });
        return act('lab.remove', 'twice', { headers });
      },
    },
    {
      rule: 'what a rule can say nothing about',
      verdict: [403, 'policy_error', 'policy_unavailable', null],
      carries: 'action',
      provoke: ({ act }) => act('lab.judged', '../open'),
    },
    {
      rule: 'what a budget has no room for',
      verdict: [429, 'rate_limit_error', 'budget_exceeded', null],
      message: /^The budget none-left of the policy allows 0 calls, and there is none left until /,
      headers: { 'retry-after': /^[1-9]\d*$/ },
      carries: 'action',
      provoke: ({ act }) => act('lab.metered', 'open'),
    },
    {
      rule: 'a tool of a connector that there is not',
      verdict: UNKNOWN,
      carries: 'action',
      provoke: ({ act }) => act('absent.read', 'open'),
    },
    {
      rule: 'a tool that its connector does not have',
      verdict: UNKNOWN,
      carries: 'action',
      provoke: ({ act }) => act('lab.absent', 'open'),
    },
    {
      rule: 'a look-alike of a tool’s name',
      verdict: UNKNOWN,
      carries: 'action',
      provoke: ({ act }) => act('l\u0430b.read', 'open'),
    },
    {
      rule: 'a tool’s name that is malformed',
      verdict: UNKNOWN,
      carries: 'action',
      provoke: ({ act }) => act('lab', 'open'),
    },
    {
      rule: 'a key that named another request',
      verdict: [422, 'invalid_request_error', 'idempotency_conflict', 'Idempotency-Key'],
      provoke: async ({ act }) => {
        const headers = { 'Idempotency-Key': 'one request' };
        await act('lab.write', 'one', { headers });
        return act('lab.write', 'another', { headers });
      },
    },
    ...['', 'x'.repeat(256), 'schlüssel'].map((key): RefusalGroup['refusals'][number] => ({
      rule: `an Idempotency-Key of ${key.length} characters${key === 'schlüssel' ? ', not all of them ASCII' : ''}`,
      verdict: [400, 'invalid_request_error', 'idempotency_key_invalid', 'Idempotency-Key'],
      provoke: ({ act }) => act('lab.write', 'open', { headers: { 'Idempotency-Key': key } }),
    })),
    {
      rule: 'a wait above 25 seconds',
      verdict: invalid('wait'),
      provoke: ({ act }) => act('lab.write', 'open', { wait: 26 }),
    },
    {
      rule: 'arguments above 256 KiB',
      verdict: invalid('args'),
      provoke: ({ act }) => act('lab.write', 'x'.repeat(256 * 1_024)),
    },
    {
      rule: 'an action that there is not',
      verdict: [404, 'invalid_request_error', 'not_found', null],
      provoke: ({ agent }) => agent('GET', `/v1/actions/act_${'0'.repeat(26)}`),
    },
    {
      rule: 'what is no id of an action',
      verdict: [404, 'invalid_request_error', 'not_found', null],
      provoke: ({ agent }) => agent('GET', '/v1/actions/deed_x'),
    },
    {
      rule: 'to read back what did not run',
      verdict: [409, 'invalid_request_error', 'conflict', null],
      provoke: async ({ act, admin }) => {
        const { error } = await act('lab.remove', 'unconfirmed');
        const { id } = (error as { action: { id: string } }).action;
        return admin('POST', `/v1/actions/${id}/witness`);
      },
    },
    {
      rule: 'to amend a witness by a read without an answer',
      verdict: [503, 'api_error', 'connector_unavailable', null],
      provoke: async ({ act, admin }) => {
        const { json } = await act('lab.confirmed', 'open');
        return admin('POST', `/v1/actions/${String(json['id'])}/witness`);
      },
    },
    {
      rule: 'the 21st wait of an agent',
      verdict: [429, 'rate_limit_error', 'rate_limited', null],
      headers: { 'retry-after': '1' },
      provoke: async ({ act, agent, lab }) => {
        lab.hold();
        const { json } = await act('held.write', 'held', { wait: 0 });
        const polls = Array.from({ length: 21 }, () => agent('GET', `/v1/actions/${String(json['id'])}?wait=25`));
        // Nothing happens to the action, so what is answered first is what may not wait.
        const first = await Promise.race(polls);
        lab.release();
        await Promise.all(polls);
        return first;
      },
    },
  ],
};

/** What is due by default, and what is due when there is nothing to decide by. */
export const UNGOVERNED: readonly RefusalGroup[] = [
  {
    title: 'a policy without rules',
    enter: async ({ change, policy }) => {
      const versions = `/v1/policies/${policy}/versions`;
      const { id } = await change('POST', versions, { source: 'version: 1\ndefault: deny\n' });
      await change('POST', `${versions}/${String(id)}/activate`, { mode: 'enforce' });
    },
    refusals: [
      {
        rule: 'what no rule is about',
        verdict: DENIED,
        carries: 'action',
        provoke: ({ act }) => act('lab.read', 'open'),
      },
    ],
  },
  {
    title: 'where no policy is enforced, the service',
    enter: ({ change, policy }) => change('POST', `/v1/policies/${policy}/deactivate`, { mode: 'enforce' }),
    leave: ({ change, policy }) => change('POST', `/v1/policies/${policy}/versions/1/activate`, { mode: 'enforce' }),
    refusals: [
      {
        rule: 'everything',
        verdict: DENIED,
        carries: 'action',
        provoke: ({ act }) => act('lab.read', 'open'),
      },
      {
        rule: 'taking a policy out of the slot that it is not in',
        verdict: [409, 'invalid_request_error', 'conflict', 'mode'],
        provoke: ({ admin, policy }) =>
          admin('POST', `/v1/policies/${policy}/deactivate`, { json: { mode: 'enforce' } }),
      },
    ],
  },
];

/** A refusal is answered with its seal, or not yet (rule GATE-4). */
export const UNSEALED: RefusalGroup = {
  title: 'while no seal key is active, the gate',
  enter: async (stage) => {
    const { objects } = await stage.ags('seal-keys', 'list');
    for (const { kid } of objects) await stage.ags('seal-keys', 'revoke', String(kid));
  },
  leave: (stage) => stage.ags('seal-keys', 'rotate'),
  refusals: [
    {
      rule: 'what the policy denies, until its deed is sealed',
      verdict: [503, 'api_error', 'service_unavailable', null],
      headers: { 'retry-after': '1' },
      provoke: ({ act }) => act('lab.remove', 'unsealed', { wait: 0, headers: { 'Idempotency-Key': 'unsealed' } }),
    },
  ],
};

export const SEALED_AGAIN: RefusalGroup = {
  title: 'once a seal key is active again, the gate',
  refusals: [
    {
      rule: 'with the same key, the same request as it was decided',
      verdict: DENIED,
      message: NEVER_REMOVED,
      headers: { 'service-idempotent-replayed': 'true' },
      carries: 'action',
      provoke: ({ act }) => act('lab.remove', 'unsealed', { wait: 25, headers: { 'Idempotency-Key': 'unsealed' } }),
    },
  ],
};
