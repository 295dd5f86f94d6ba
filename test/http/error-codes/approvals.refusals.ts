import { expect, vi } from 'vitest';
import { GATE_DEFAULTS } from '#libs/domain/gate';
import type { Answer } from '../../support/service.js';
import { SoftAuthenticator } from '../../support/soft-authenticator.js';
import { POLICY } from './lab.js';
import type { RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';
import { headersOf, type Session } from './sent.js';

export const refused = (
  code:
    | 'approver_not_eligible'
    | 'self_approval'
    | 'approval_needs_passkey'
    | 'approval_needs_person'
    | 'approval_link_review_only',
): Verdict => [403, 'permission_error', code, null];
export const late = (
  code: 'approval_decided' | 'approval_expired' | 'already_countersigned' | 'context_changed' | 'conflict',
): Verdict => [409, 'invalid_request_error', code, null];
export const stopped = (code: 'agent_stopped' | 'agent_suspended' | 'org_stopped'): Verdict => [
  403,
  'permission_error',
  code,
  null,
];

/** The shortest that a rule may let an approval wait, and room for whoever ends it. */
const EXPIRED_WITHIN = { timeout: 120_000, interval: 500 };

const made: { viewer: Session | null; admin: Session | null; expiring: string } = {
  viewer: null,
  admin: null,
  expiring: '',
};
const viewer = (): Session => made.viewer as Session;
const admin = (): Session => made.admin as Session;

const EXPIRING_KEY = 'waits-for-a-minute';

const enter = async (stage: Stage): Promise<void> => {
  made.viewer = (await stage.people.member('looks-on@example.com', 'viewer')).session;
  made.admin = (await stage.people.member('decides@example.com', 'admin')).session;
  // Two besides the one whom a call runs for.
  await stage.people.member('stands-in@example.com', 'admin');
  made.expiring = await held(stage, { id: 'soon', key: EXPIRING_KEY });
};

const asked = async (
  { send }: Stage,
  key: string,
  id: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answer['json']> =>
  (await send('POST', '/v1/actions', { key, json: { tool: 'lab.ask', args: { id }, wait: 0 }, headers })).json;

/** The approval of a call that waits for two. */
export const held = async (
  stage: Stage,
  {
    id = 'a-case',
    onBehalfOf = null as string | null,
    key = null as string | null,
    agentKey = null as string | null,
  } = {},
): Promise<string> => {
  const headers = {
    ...(onBehalfOf === null ? {} : { 'Service-On-Behalf-Of': onBehalfOf }),
    ...(key === null ? {} : { 'Idempotency-Key': key }),
  };
  const json = await asked(stage, agentKey ?? stage.service.agentKey, id, headers);
  expect(json).toMatchObject({ status: 'pending_approval' });
  return String(json['id']).replace('act_', 'apr_');
};

const digestOf = async (stage: Stage, approval: string): Promise<string> =>
  String((await stage.admin('GET', `/v1/approvals/${approval}`)).json['context_digest']);

interface Said {
  readonly as?: Session;
  readonly key?: string;
  readonly digest?: string;
  readonly passkey?: object;
}

const say = async (
  stage: Stage,
  decision: 'approve' | 'deny',
  approval: string,
  { as = admin(), key, digest, passkey }: Said = {},
): Promise<Answer> => {
  const context_digest = digest ?? (await digestOf(stage, approval));
  const by = key === undefined ? { headers: headersOf('POST', as) } : { key };
  // What refuses the decision refuses to ask a device about it.
  const asked = { json: { context_digest, decision }, ...by };
  expect((await stage.send('POST', `/v1/approvals/${approval}/passkey/options`, asked)).status).not.toBe(200);
  const json = passkey === undefined ? { context_digest } : { context_digest, passkey };
  return stage.send('POST', `/v1/approvals/${approval}/${decision}`, { json, ...by });
};

/** What a device answers that nobody has registered. */
export const foreignPasskey = ({ port }: Stage): object =>
  new SoftAuthenticator({ rpId: 'localhost', origin: `http://localhost:${port}` }).sign('c'.repeat(43));

export const MISSED: Verdict = [400, 'invalid_request_error', 'passkey_invalid', null];

/** While every yes is to be signed. */
export const whileSigned = async ({ owner }: Stage, work: () => Promise<Answer>): Promise<Answer> => {
  await owner('PATCH', '/v1/org', { json: { approvals: { signed: true } } });
  try {
    return await work();
  } finally {
    await owner('PATCH', '/v1/org', { json: { approvals: { signed: false } } });
  }
};

const decided = async (stage: Stage): Promise<string> => {
  const approval = await held(stage);
  expect((await say(stage, 'deny', approval)).status).toBe(200);
  return approval;
};

/** While another policy decides. */
export const under = async (stage: Stage, source: string, work: () => Promise<Answer>): Promise<Answer> => {
  const { id } = await stage.change('POST', '/v1/policies', { name: `For approvals ${stage.answered.size}`, source });
  await stage.change('POST', `/v1/policies/${String(id)}/versions/1/activate`, { mode: 'enforce' });
  try {
    return await work();
  } finally {
    await stage.change('POST', `/v1/policies/${stage.policy}/versions/1/activate`, { mode: 'enforce' });
  }
};

export const UNJUDGED = POLICY.replace(
  'rules:\n',
  'rules:\n  - id: broken\n    when: args.absent == 1\n    decision: deny\n',
);

/** Between two changes that an owner makes. */
export const during = async (
  stage: Stage,
  [begin, end]: readonly [string, string],
  work: () => Promise<Answer>,
): Promise<Answer> => {
  await stage.owner('POST', begin);
  try {
    return await work();
  } finally {
    await stage.owner('POST', end);
  }
};

const ofBoth = (
  rule: string,
  verdict: Verdict,
  provoke: (stage: Stage, decision: 'approve' | 'deny') => Promise<Answer>,
) =>
  (['approve', 'deny'] as const).map((decision) => ({
    rule: `${rule}, by ${decision}`,
    verdict,
    provoke: (stage: Stage) => provoke(stage, decision),
  }));

export const APPROVALS: RefusalGroup = {
  title: 'approvals',
  enter,
  refusals: [
    {
      rule: 'a call that nobody could ever approve',
      verdict: [403, 'policy_error', 'approval_unsatisfiable', null],
      carries: 'action',
      provoke: (stage) => stage.act('lab.ask_all', 'a-case'),
    },
    {
      rule: 'a call of an agent of which as many wait as may',
      verdict: [429, 'rate_limit_error', 'approval_limit_reached', null],
      headers: { 'retry-after': /^(60|5\d)$/ },
      carries: 'action',
      provoke: async (stage) => {
        const made = await stage.change('POST', '/v1/agents', { name: 'floods', key: {} });
        const secret = String(made['secret']);
        const ask = (id: string) =>
          stage.send('POST', '/v1/actions', { key: secret, json: { tool: 'lab.ask', args: { id }, wait: 0 } });
        for (let count = 0; count < GATE_DEFAULTS.waitingPerAgentMax; count += 1) {
          expect((await ask(`flood-${count}`)).status).toBe(202);
        }
        return ask('one-more');
      },
    },
    ...ofBoth('a key that decides', refused('approval_needs_person'), async (stage, decision) =>
      say(stage, decision, await held(stage), { key: stage.service.adminKey }),
    ),
    ...ofBoth('who is no approver', refused('approver_not_eligible'), async (stage, decision) =>
      say(stage, decision, await held(stage), { as: viewer() }),
    ),
    ...ofBoth('what was decided', late('approval_decided'), async (stage, decision) =>
      say(stage, decision, await decided(stage)),
    ),
    ...ofBoth('what was not looked at', late('context_changed'), async (stage, decision) =>
      say(stage, decision, await held(stage), { digest: `sha256:${'0'.repeat(64)}` }),
    ),
    ...ofBoth('a passkey of nobody', MISSED, async (stage, decision) =>
      say(stage, decision, await held(stage), { passkey: foreignPasskey(stage) }),
    ),
    {
      rule: 'a yes without a passkey, where one is needed',
      verdict: refused('approval_needs_passkey'),
      provoke: async (stage) => {
        const approval = await held(stage);
        return whileSigned(stage, () => say(stage, 'approve', approval));
      },
    },
    {
      rule: 'a yes to what is done on one’s own behalf',
      verdict: refused('self_approval'),
      provoke: async (stage) => {
        const headers = headersOf('GET', admin());
        const me = await stage.send('GET', '/v1/me', { headers });
        const onBehalfOf = String((me.json['user'] as { id: string }).id);
        return say(stage, 'approve', await held(stage, { onBehalfOf }));
      },
    },
    {
      rule: 'a second yes of one person',
      verdict: late('already_countersigned'),
      provoke: async (stage) => {
        const approval = await held(stage);
        expect((await say(stage, 'approve', approval)).status).toBe(200);
        return say(stage, 'approve', approval);
      },
    },
    {
      rule: 'a yes while the organization is stopped',
      verdict: stopped('org_stopped'),
      provoke: async (stage) => {
        const approval = await held(stage);
        return during(stage, ['/v1/org/stop', '/v1/org/start'], () => say(stage, 'approve', approval));
      },
    },
    ...(['stop', 'suspend'] as const).map((brake) => ({
      rule: `a yes after the ${brake} of the agent`,
      verdict: stopped(brake === 'stop' ? 'agent_stopped' : 'agent_suspended'),
      provoke: async (stage: Stage) => {
        const approval = await held(stage);
        const agent = `/v1/agents/${stage.service.agent}`;
        return during(stage, [`${agent}/${brake}`, `${agent}/resume`], () => say(stage, 'approve', approval));
      },
    })),
    {
      rule: 'a yes to what the policy denies by now',
      verdict: [403, 'policy_error', 'policy_denied', null],
      provoke: async (stage) => {
        const approval = await held(stage);
        return under(stage, 'version: 1\ndefault: deny\n', () => say(stage, 'approve', approval));
      },
    },
    {
      rule: 'a yes to what the policy cannot judge by now',
      verdict: [403, 'policy_error', 'policy_unavailable', null],
      provoke: async (stage) => {
        const approval = await held(stage);
        return under(stage, UNJUDGED, () => say(stage, 'approve', approval));
      },
    },
    {
      rule: 'a yes to what could not run, since its connector is disabled',
      verdict: late('conflict'),
      provoke: async (stage) => {
        const approval = await held(stage);
        await stage.change('PATCH', '/v1/connectors/lab', { status: 'disabled' });
        try {
          return await say(stage, 'approve', approval);
        } finally {
          await stage.change('PATCH', '/v1/connectors/lab', { status: 'active' });
        }
      },
    },
    // A viewer is told of the time first: until it is over, that only approvers decide.
    ...ofBoth('what ran out', late('approval_expired'), (stage, decision) =>
      vi.waitFor(async () => {
        const answer = await say(stage, decision, made.expiring, { as: viewer() });
        expect(answer.error['code']).toBe('approval_expired');
        return answer;
      }, EXPIRED_WITHIN),
    ),
    {
      rule: 'a call that is sent again when its approval has run out',
      verdict: late('approval_expired'),
      headers: { 'service-idempotent-replayed': 'true' },
      carries: 'action',
      provoke: ({ act }) =>
        vi.waitFor(async () => {
          const answer = await act('lab.ask', 'soon', { wait: 0, headers: { 'Idempotency-Key': EXPIRING_KEY } });
          expect(answer.error['code']).toBe('approval_expired');
          return answer;
        }, EXPIRED_WITHIN),
    },
  ],
};
