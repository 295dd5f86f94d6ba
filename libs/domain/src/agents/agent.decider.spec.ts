import { describe, expect, it } from 'vitest';
import { after, givenFor, metadataAt, NOW } from '../../../../test/support/given.js';
import { AGENT, ORG } from '../../../../test/support/gate-fixtures.js';
import { DomainError, type KeyId, type OrgId } from '../kernel/index.js';
import type { KeyRecord } from '../people/index.js';
import { agentDecider } from './agent.decider.js';
import type { AgentSettings } from './agent.commands.js';
import type { AgentEvent, IntentMode, Money } from './agent.events.js';
import type { LivingAgent } from './agent.state.js';

const given = givenFor(agentDecider);
const of = { org: ORG, agent: AGENT, at: NOW };
const keyId = (index: number) => `key_000000000000000000000000${String(index).padStart(2, '0')}` as KeyId;
const record = (index: number): KeyRecord => ({
  key: keyId(index),
  prefix: `prefix0${index}`,
  hash: 'ab',
  livemode: false,
});

const registered: AgentEvent = {
  type: 'AgentRegistered',
  data: { ...of, name: 'support-1', labels: { team: 'support' }, owner: null },
};
const keyCreated = (index: number): AgentEvent => ({
  type: 'AgentKeyCreated',
  data: { ...of, record: record(index), scopes: ['actions:execute'] },
});
const stopped: AgentEvent = { type: 'AgentStopped', data: { ...of, reason: 'looks odd' } };
const suspended: AgentEvent = { type: 'AgentSuspended', data: { ...of, reason: null } };

const EUR = { amount: 5_000, currency: 'eur' };
const kid = (index: number) => `${'0'.repeat(31)}${index}`;
const modeSet = (from: IntentMode, to: IntentMode): AgentEvent => ({
  type: 'AgentIntentModeSet',
  data: { ...of, from, to },
});
const labelsSet = (labels: Record<string, string>): AgentEvent => ({ type: 'AgentLabelsSet', data: { ...of, labels } });
const budgetsSet = (calls_per_day: number | null, spend_per_day: Money | null): AgentEvent => ({
  type: 'AgentBudgetsSet',
  data: { ...of, calls_per_day, spend_per_day },
});
const intentKeyAdded = (index: number): AgentEvent => ({
  type: 'AgentIntentKeyAdded',
  data: { ...of, kid: kid(index), public_key: `ed25519:${index}`, by: { type: 'operator', id: null } },
});
const intentKeyRemoved = (index: number): AgentEvent => ({
  type: 'AgentIntentKeyRemoved',
  data: { ...of, kid: kid(index) },
});

const create = (index: number) =>
  ({ type: 'CreateAgentKey', data: { record: record(index), scopes: ['actions:execute'] } }) as const;

describe('an agent', () => {
  it('is registered once', () => {
    const data = { org: ORG, agent: AGENT, name: 'support-1', labels: { team: 'support' }, owner: null };
    given().when({ type: 'RegisterAgent', data }).then(registered);
    given(registered).when({ type: 'RegisterAgent', data }).thenRefuses('conflict');
  });

  it('that was never registered is not found', () =>
    given()
      .when({ type: 'StopAgent', data: { reason: null } })
      .thenRefuses('not_found'));

  it('of another organization is not found, whatever is asked', () => {
    const metadata = { ...metadataAt(), org: 'org_00000000000000000000000002' as OrgId };
    const stop = { type: 'StopAgent', data: { reason: null }, metadata } as const;
    expect(() => agentDecider.decide(stop, given(registered).state)).toThrow(new DomainError('not_found'));
  });

  it('is made whole in one append: settings and a first key', () => {
    const described = { org: ORG, agent: AGENT, name: 'support-1', labels: { team: 'support' }, owner: null };
    const key = { record: record(1), scopes: ['actions:execute'] } as const;
    const settings = { intentMode: 'optional', budgets: { calls_per_day: 10 } } as const;
    given()
      .when({ type: 'RegisterAgent', data: { ...described, settings, key } })
      .then(registered, modeSet('off', 'optional'), budgetsSet(10, null), keyCreated(1));
  });

  it('is not made where it could call nothing', () => {
    const described = { org: ORG, agent: AGENT, name: 'support-1', labels: {}, owner: null };
    given()
      .when({ type: 'RegisterAgent', data: { ...described, settings: { intentMode: 'required' } } })
      .thenRefuses('conflict', 'intent_mode');
  });
});

describe('settings', () => {
  const change = (data: AgentSettings) => ({ type: 'ChangeAgent', data }) as const;

  it('change by an event each, in the order mode, labels, budgets', () =>
    given(registered)
      .when(change({ budgets: { calls_per_day: 5 }, labels: { team: 'sales' }, intentMode: 'optional' }))
      .then(modeSet('off', 'optional'), labelsSet({ team: 'sales' }), budgetsSet(5, null)));

  it('that are so already change nothing', () => {
    given(registered, budgetsSet(5, EUR))
      .when(change({ intentMode: 'off', labels: { team: 'support' }, budgets: { spend_per_day: { ...EUR } } }))
      .thenNothing();
    given(registered).when(change({})).thenNothing();
    given(registered, labelsSet({ a: '1', b: '2' }))
      .when(change({ labels: { b: '2', a: '1' } }))
      .thenNothing();
  });

  it('replace labels whole', () => {
    given(registered)
      .when(change({ labels: {} }))
      .then(labelsSet({}));
    given(registered)
      .when(change({ labels: { team: 'support', tier: '1' } }))
      .then(labelsSet({ team: 'support', tier: '1' }));
  });

  it('keep the budget that is not named, and remove one that is null', () => {
    given(registered, budgetsSet(5, EUR))
      .when(change({ budgets: { calls_per_day: 6 } }))
      .then(budgetsSet(6, EUR));
    given(registered, budgetsSet(5, EUR))
      .when(change({ budgets: { spend_per_day: null } }))
      .then(budgetsSet(5, null));
    given(registered, budgetsSet(5, EUR))
      .when(change({ budgets: { spend_per_day: { amount: EUR.amount, currency: 'usd' } } }))
      .then(budgetsSet(5, { amount: EUR.amount, currency: 'usd' }));
  });
});

describe('intent keys', () => {
  const add = (index: number) =>
    ({ type: 'AddIntentKey', data: { kid: kid(index), publicKey: `ed25519:${index}` } }) as const;
  const remove = (index: number) => ({ type: 'RemoveIntentKey', data: { kid: kid(index) } }) as const;
  const require = { type: 'ChangeAgent', data: { intentMode: 'required' } } as const;

  it('are two at most', () => {
    given(registered).when(add(1)).then(intentKeyAdded(1));
    given(registered, intentKeyAdded(1)).when(add(2)).then(intentKeyAdded(2));
    given(registered, intentKeyAdded(1), intentKeyAdded(2)).when(add(3)).thenRefuses('conflict');
    given(registered, intentKeyAdded(1), intentKeyAdded(2), intentKeyRemoved(1)).when(add(3)).then(intentKeyAdded(3));
  });

  it('are registered once, and may come back after they were removed', () => {
    given(registered, intentKeyAdded(1)).when(add(1)).thenRefuses('conflict', 'public_key');
    given(registered, intentKeyAdded(1), intentKeyRemoved(1)).when(add(1)).then(intentKeyAdded(1));
  });

  it('are removed by their kid; an unknown one is not found', () => {
    given(registered, intentKeyAdded(1)).when(remove(1)).then(intentKeyRemoved(1));
    given(registered, intentKeyAdded(1)).when(remove(2)).thenRefuses('not_found');
  });

  it('the mode required needs one', () => {
    given(registered).when(require).thenRefuses('conflict', 'intent_mode');
    given(registered, intentKeyAdded(1)).when(require).then(modeSet('off', 'required'));
  });

  it('the last one stays while the mode is required', () => {
    const required = modeSet('off', 'required');
    given(registered, intentKeyAdded(1), required).when(remove(1)).thenRefuses('conflict');
    given(registered, intentKeyAdded(1), intentKeyAdded(2), required).when(remove(1)).then(intentKeyRemoved(1));
    given(registered, intentKeyAdded(1), required, modeSet('required', 'optional'))
      .when(remove(1))
      .then(intentKeyRemoved(1));
  });

  it('say who added them', () => {
    const { intentKeys } = given(registered, intentKeyAdded(1)).state as LivingAgent;
    expect(intentKeys).toEqual([
      { kid: kid(1), publicKey: 'ed25519:1', createdBy: { type: 'operator', id: null }, createdAt: NOW },
    ]);
  });
});

describe('Stop', () => {
  const stop = { type: 'StopAgent', data: { reason: 'looks odd' } } as const;
  const resume = { type: 'ResumeAgent', data: { reason: null } } as const;

  it('stops an active agent', () => given(registered).when(stop).then(stopped));
  it('changes nothing on a stopped one', () => given(registered, stopped).when(stop).thenNothing());
  it('leaves a suspension as it is', () => given(registered, suspended).when(stop).thenNothing());
  it('a suspension outlives a Stop', () =>
    given(registered, stopped)
      .when({ type: 'SuspendAgent', data: { reason: null } })
      .then(suspended));
  it('resume lifts either', () => {
    for (const event of [stopped, suspended]) expect(given(registered, event).when(resume).events()).toHaveLength(1);
  });
  it('keeps why, until it is lifted', () => {
    const resumed: AgentEvent = { type: 'AgentResumed', data: { ...of, reason: 'all is well' } };
    expect(given(registered, stopped).state).toMatchObject({ status: 'stopped', statusReason: 'looks odd' });
    expect(given(registered, stopped, suspended).state).toMatchObject({ status: 'suspended', statusReason: null });
    expect(given(registered, stopped, resumed).state).toMatchObject({ status: 'active', statusReason: null });
  });
  it('resume changes nothing on an active agent', () => given(registered).when(resume).thenNothing());
});

describe('an agent’s keys', () => {
  it('are at most ten active ones (rule KEY-8)', () => {
    const ten = Array.from({ length: 10 }, (_, index) => keyCreated(index));
    given(registered, ...ten.slice(1))
      .when(create(11))
      .then(keyCreated(11));
    given(registered, ...ten)
      .when(create(11))
      .thenRefuses('conflict');
  });

  it('make room when one is revoked', () => {
    const ten = Array.from({ length: 10 }, (_, index) => keyCreated(index));
    const revoked: AgentEvent = { type: 'AgentKeyRevoked', data: { ...of, key: keyId(3) } };
    given(registered, ...ten, revoked)
      .when(create(11))
      .then(keyCreated(11));
  });

  it('are rolled with an overlap, and the successor has the same scopes', () => {
    const data = { key: keyId(1), successor: record(2), expiresAt: after(1_000) };
    const events = given(registered, keyCreated(1)).when({ type: 'RollAgentKey', data }).events();
    const { keys } = given(registered, keyCreated(1), ...events).state as LivingAgent;
    expect(keys.get(keyId(1))).toMatchObject({ expiresAt: after(1_000), revokedAt: null });
    expect(keys.get(keyId(2))).toMatchObject({ scopes: ['actions:execute'], expiresAt: null });
  });

  it('are at most ten while one that was rolled still works', () => {
    const ten = Array.from({ length: 10 }, (_, index) => keyCreated(index));
    const roll = (expiresAt: string) =>
      ({ type: 'RollAgentKey', data: { key: keyId(1), successor: record(11), expiresAt } }) as const;
    given(registered, ...ten)
      .when(roll(after(1_000)))
      .thenRefuses('conflict');
    expect(
      given(registered, ...ten)
        .when(roll(NOW))
        .events(),
    ).toHaveLength(1);
    expect(
      given(registered, ...ten.slice(1))
        .when(roll(after(1_000)))
        .events(),
    ).toHaveLength(1);
  });

  it('know the key that they go back to, however often they were rolled', () => {
    const rolled = (from: number, to: number): AgentEvent => ({
      type: 'AgentKeyRolled',
      data: { ...of, key: keyId(from), successor: record(to), expires_at: after(1_000) },
    });
    const { keys } = given(registered, keyCreated(1), rolled(1, 2), rolled(2, 3)).state as LivingAgent;
    expect([...keys.values()].map(({ lineage }) => lineage)).toEqual([keyId(1), keyId(1), keyId(1)]);
  });

  it('cannot be rolled twice, nor once revoked', () => {
    const data = { key: keyId(1), successor: record(3), expiresAt: after(1_000) };
    const rolled: AgentEvent = {
      type: 'AgentKeyRolled',
      data: { ...of, key: keyId(1), successor: record(2), expires_at: after(1_000) },
    };
    const revoked: AgentEvent = { type: 'AgentKeyRevoked', data: { ...of, key: keyId(1) } };
    for (const event of [rolled, revoked]) {
      given(registered, keyCreated(1), event).when({ type: 'RollAgentKey', data }).thenRefuses('conflict');
    }
  });

  it('are revoked once; an unknown one is not found', () => {
    const revoke = { type: 'RevokeAgentKey', data: { key: keyId(1) } } as const;
    const revoked: AgentEvent = { type: 'AgentKeyRevoked', data: { ...of, key: keyId(1) } };
    given(registered, keyCreated(1)).when(revoke).then(revoked);
    given(registered, keyCreated(1), revoked).when(revoke).thenNothing();
    given(registered).when(revoke).thenRefuses('not_found');
  });
});
