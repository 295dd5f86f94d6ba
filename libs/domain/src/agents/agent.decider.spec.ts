import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import { AGENT, ORG } from '../../../../test/support/gate-fixtures.js';
import type { KeyId } from '../kernel/index.js';
import type { KeyRecord } from '../people/index.js';
import { agentDecider } from './agent.decider.js';
import type { AgentEvent } from './agent.events.js';
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
  it('resume changes nothing on an active agent', () => given(registered).when(resume).thenNothing());
});

describe('an agent’s keys', () => {
  it('are at most ten active ones (document 2, Limits)', () => {
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
