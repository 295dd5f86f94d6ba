import { describe, expect, it } from 'vitest';
import { NOW } from '../../../../test/support/given.js';
import { AGENT, ORG } from '../../../../test/support/gate-fixtures.js';
import type { AgentEvent } from '../agents/index.js';
import type { EventEnvelope } from '../kernel/index.js';
import { adminActOf } from './admin-deed.js';

const actOf = (event: AgentEvent) => adminActOf({ event, metadata: {}, recorded: {} } as EventEnvelope);
const of = { org: ORG, agent: AGENT, at: NOW };
const kid = '0'.repeat(32);
const about = { type: 'agent', id: AGENT };

/** Auditors make every deed again from its event, so what an act says must never change once it was sealed. */
describe('the deed of', () => {
  const acts: readonly (readonly [string, AgentEvent, object])[] = [
    [
      'an agent’s making',
      { type: 'AgentRegistered', data: { ...of, name: 'support-1', labels: { team: 'a' }, owner: null } },
      { action: 'agent.created', target: about, data: { labels: { team: 'a' }, name: 'support-1', owner: null } },
    ],
    [
      'an intent key that was added',
      {
        type: 'AgentIntentKeyAdded',
        data: { ...of, kid, public_key: 'ed25519:x', by: { type: 'admin_key', id: 'key_1' } },
      },
      {
        action: 'intent_key.added',
        target: { type: 'intent_key', id: kid },
        data: { agent: AGENT, public_key: 'ed25519:x' },
      },
    ],
    [
      'an intent key that was removed',
      { type: 'AgentIntentKeyRemoved', data: { ...of, kid } },
      { action: 'intent_key.removed', target: { type: 'intent_key', id: kid }, data: { agent: AGENT } },
    ],
    [
      'an intent mode',
      { type: 'AgentIntentModeSet', data: { ...of, from: 'off', to: 'optional' } },
      { action: 'agent.intent_mode_set', target: about, data: { from: 'off', to: 'optional' } },
    ],
    [
      'labels',
      { type: 'AgentLabelsSet', data: { ...of, labels: { team: 'b' } } },
      { action: 'agent.labels_set', target: about, data: { labels: { team: 'b' } } },
    ],
    [
      'budgets',
      {
        type: 'AgentBudgetsSet',
        data: { ...of, calls_per_day: null, spend_per_day: { amount: 5_000, currency: 'eur' } },
      },
      {
        action: 'agent.budgets_set',
        target: about,
        data: { calls_per_day: null, spend_per_day: { amount: 5_000, currency: 'eur' } },
      },
    ],
  ];

  it.each(acts)('%s', (_what, event, act) => expect(actOf(event)).toEqual({ reason: null, ...act }));
});
