import { SigningKey } from '#libs/crypto';
import type { RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';

const NOT_FOUND: Verdict = [404, 'invalid_request_error', 'not_found', null];
const invalid = (param: string): Verdict => [400, 'invalid_request_error', 'validation_failed', param];
const unsafe: Verdict = [422, 'invalid_request_error', 'validation_failed', 'public_key'];
const conflict = (param: string | null): Verdict => [409, 'invalid_request_error', 'conflict', param];

const ACTIVE_KEYS_MAX = 10;
/** The identity point: under it one signature is valid for every message. */
const SMALL_ORDER = `ed25519:AQ${'A'.repeat(41)}`;

const newKey = (): string => SigningKey.generate().publicKey.text;

/** An agent of a rule's own, by its path. */
const newAgent = async ({ change }: Stage): Promise<string> => {
  const { id } = await change('POST', '/v1/agents', { name: 'refused' });
  return `/v1/agents/${String(id)}`;
};

const withIntentKey = async (
  stage: Stage,
): Promise<{ readonly path: string; readonly kid: string; readonly key: string }> => {
  const [path, key] = [await newAgent(stage), newKey()];
  const { kid } = await stage.change('POST', `${path}/intent-keys`, { public_key: key });
  return { path, kid: String(kid), key };
};

export const AGENTS: RefusalGroup = {
  title: 'an agent’s routes',
  refusals: [
    {
      rule: 'a name of two lines',
      verdict: invalid('name'),
      provoke: ({ admin }) => admin('POST', '/v1/agents', { json: { name: 'a\nb' } }),
    },
    {
      rule: 'a label of another form',
      verdict: invalid('labels'),
      provoke: ({ admin }) => admin('POST', '/v1/agents', { json: { name: 'a', labels: { Team: 'x' } } }),
    },
    {
      rule: 'a label’s value with a control character',
      verdict: invalid('labels.team'),
      provoke: ({ admin }) => admin('POST', '/v1/agents', { json: { name: 'a', labels: { team: 'x\u0007' } } }),
    },
    {
      rule: 'a budget that nothing would fit in',
      verdict: invalid('budgets.calls_per_day'),
      provoke: ({ admin }) => admin('POST', '/v1/agents', { json: { name: 'a', budgets: { calls_per_day: 0 } } }),
    },
    {
      rule: 'a currency in capitals',
      verdict: invalid('budgets.spend_per_day.currency'),
      provoke: ({ admin }) => {
        const budgets = { spend_per_day: { amount: 1, currency: 'EUR' } };
        return admin('POST', '/v1/agents', { json: { name: 'a', budgets } });
      },
    },
    {
      rule: 'an owner who is nobody here',
      verdict: invalid('owner'),
      provoke: ({ admin }) => admin('POST', '/v1/agents', { json: { name: 'a', owner: `usr_${'0'.repeat(26)}` } }),
    },
    {
      rule: 'to make one that could call nothing',
      verdict: conflict('intent_mode'),
      provoke: ({ admin }) => admin('POST', '/v1/agents', { json: { name: 'a', intent_mode: 'required' } }),
    },
    {
      rule: 'a mode that would lock it out',
      verdict: conflict('intent_mode'),
      provoke: async (stage) => stage.admin('PATCH', await newAgent(stage), { json: { intent_mode: 'required' } }),
    },
    {
      rule: 'a scope that no agent has',
      verdict: invalid('scopes'),
      provoke: async (stage) => stage.admin('POST', `${await newAgent(stage)}/keys`, { json: { scopes: ['admin'] } }),
    },
    {
      rule: 'an eleventh key',
      verdict: conflict(null),
      provoke: async (stage) => {
        const keys = `${await newAgent(stage)}/keys`;
        for (let made = 0; made < ACTIVE_KEYS_MAX; made += 1) await stage.change('POST', keys, {});
        return stage.admin('POST', keys, { json: {} });
      },
    },
    {
      rule: 'to roll a key twice',
      verdict: conflict(null),
      provoke: async (stage) => {
        const keys = `${await newAgent(stage)}/keys`;
        const { id } = await stage.change('POST', keys, {});
        await stage.change('POST', `${keys}/${String(id)}/roll`, {});
        return stage.admin('POST', `${keys}/${String(id)}/roll`, { json: {} });
      },
    },
    {
      rule: 'an overlap of more than 7 days',
      verdict: invalid('overlap_seconds'),
      provoke: async (stage) => {
        const keys = `${await newAgent(stage)}/keys`;
        const { id } = await stage.change('POST', keys, {});
        return stage.admin('POST', `${keys}/${String(id)}/roll`, { json: { overlap_seconds: 604_801 } });
      },
    },
    {
      rule: 'an intent key of small order',
      verdict: unsafe,
      provoke: async (stage) =>
        stage.admin('POST', `${await newAgent(stage)}/intent-keys`, { json: { public_key: SMALL_ORDER } }),
    },
    {
      rule: 'an intent key of another form',
      verdict: unsafe,
      provoke: async (stage) =>
        stage.admin('POST', `${await newAgent(stage)}/intent-keys`, { json: { public_key: 'ssh-ed25519 AAAA' } }),
    },
    {
      rule: 'the same intent key twice',
      verdict: conflict('public_key'),
      provoke: async (stage) => {
        const { path, key } = await withIntentKey(stage);
        return stage.admin('POST', `${path}/intent-keys`, { json: { public_key: key } });
      },
    },
    {
      rule: 'a third intent key',
      verdict: conflict(null),
      provoke: async (stage) => {
        const { path } = await withIntentKey(stage);
        await stage.change('POST', `${path}/intent-keys`, { public_key: newKey() });
        return stage.admin('POST', `${path}/intent-keys`, { json: { public_key: newKey() } });
      },
    },
    {
      rule: 'to remove the last intent key of one that must sign',
      verdict: conflict(null),
      provoke: async (stage) => {
        const { path, kid } = await withIntentKey(stage);
        await stage.change('PATCH', path, { intent_mode: 'required' });
        return stage.admin('DELETE', `${path}/intent-keys/${kid}`);
      },
    },
    {
      rule: 'a status that no agent has',
      verdict: invalid('status'),
      provoke: ({ admin }) => admin('GET', '/v1/agents?status=asleep'),
    },
    {
      rule: 'a key of another agent',
      verdict: NOT_FOUND,
      provoke: async (stage) => {
        const { id } = await stage.change('POST', `${await newAgent(stage)}/keys`, {});
        return stage.admin('DELETE', `${await newAgent(stage)}/keys/${String(id)}`);
      },
    },
    {
      rule: 'an agent of another organization, as if it were not there',
      verdict: NOT_FOUND,
      provoke: async (stage) => {
        const { object } = await stage.ags('org', 'create', 'Next door');
        return stage.send('GET', `/v1/agents/${stage.service.agent}`, { key: String(object['admin_key']) });
      },
    },
  ],
};
