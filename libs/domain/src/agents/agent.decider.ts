import { DomainError, type Decider, type Timestamp } from '../kernel/index.js';
import { isRevocable, newKey, requireRollable, requireRoomForKey, withChangedKey, withKey } from '../people/index.js';
import { settingsChanged } from './agent-settings.js';
import type { AgentCommand } from './agent.commands.js';
import type { AgentEvent } from './agent.events.js';
import type { Agent, LivingAgent } from './agent.state.js';
import { requireRemovableIntentKey, requireRoomForIntentKey } from './intent-keys.js';

const initialState = (): Agent => ({ status: 'none' });

const decide = (command: AgentCommand, state: Agent): readonly AgentEvent[] => {
  const at = command.metadata.now;
  if (command.type === 'RegisterAgent') {
    if (state.status !== 'none') throw new DomainError('conflict');
    return registered(command.data, at);
  }
  // Another organization's agent is as absent as one that never was.
  if (state.status === 'none' || state.org !== command.metadata.org) throw new DomainError('not_found');
  const of = { org: state.org, agent: state.agent };
  switch (command.type) {
    case 'CreateAgentKey': {
      requireRoomForKey(state.keys, at);
      const { record, scopes } = command.data;
      return [{ type: 'AgentKeyCreated', data: { ...of, record, scopes, at } }];
    }
    case 'RollAgentKey': {
      const { key, successor, expiresAt } = command.data;
      requireRollable(state.keys, key, expiresAt, at);
      return [{ type: 'AgentKeyRolled', data: { ...of, key, successor, expires_at: expiresAt, at } }];
    }
    case 'RevokeAgentKey': {
      const { key } = command.data;
      return isRevocable(state.keys, key) ? [{ type: 'AgentKeyRevoked', data: { ...of, key, at } }] : [];
    }
    case 'AddIntentKey': {
      const { kid, publicKey } = command.data;
      requireRoomForIntentKey(state.intentKeys, kid);
      const { actor } = command.metadata;
      return [{ type: 'AgentIntentKeyAdded', data: { ...of, kid, public_key: publicKey, by: actor, at } }];
    }
    case 'RemoveIntentKey':
      requireRemovableIntentKey(state, command.data.kid);
      return [{ type: 'AgentIntentKeyRemoved', data: { ...of, kid: command.data.kid, at } }];
    case 'ChangeAgent':
      return settingsChanged(state, command.data, at);
    case 'StopAgent':
      // A suspension already refuses everything a Stop would, and outlives it.
      return state.status === 'active' ? [{ type: 'AgentStopped', data: { ...of, ...command.data, at } }] : [];
    case 'SuspendAgent':
      return state.status === 'suspended' ? [] : [{ type: 'AgentSuspended', data: { ...of, ...command.data, at } }];
    case 'ResumeAgent':
      return state.status === 'active' ? [] : [{ type: 'AgentResumed', data: { ...of, ...command.data, at } }];
  }
};

/** What an agent is made with is one append: there is never half of it, and each part has a deed. */
const registered = (
  { org, agent, name, labels, owner, settings = {}, key }: Extract<AgentCommand, { type: 'RegisterAgent' }>['data'],
  at: Timestamp,
): readonly AgentEvent[] => {
  const first: AgentEvent = { type: 'AgentRegistered', data: { org, agent, name, labels, owner, at } };
  const made = evolve(initialState(), first) as LivingAgent;
  const keys: readonly AgentEvent[] = key ? [{ type: 'AgentKeyCreated', data: { org, agent, ...key, at } }] : [];
  return [first, ...settingsChanged(made, settings, at), ...keys];
};

const evolve = (state: Agent, event: AgentEvent): Agent => {
  if (event.type === 'AgentRegistered') {
    const { at, ...registered } = event.data;
    return { ...NEW_AGENT, ...registered, createdAt: at, keys: new Map() };
  }
  if (state.status === 'none') return state;
  switch (event.type) {
    case 'AgentKeyCreated': {
      const { record, scopes, at } = event.data;
      return { ...state, keys: withKey(state.keys, { ...newKey(record, at), scopes }) };
    }
    case 'AgentKeyRolled': {
      const { key, successor, expires_at: expiresAt, at } = event.data;
      const rolled = state.keys.get(key);
      const keys = withChangedKey(state.keys, key, { expiresAt, successor: successor.key });
      const made = { ...newKey(successor, at, rolled), scopes: rolled?.scopes ?? [] };
      return { ...state, keys: withKey(keys, made) };
    }
    case 'AgentKeyRevoked':
      return { ...state, keys: withChangedKey(state.keys, event.data.key, { revokedAt: event.data.at }) };
    case 'AgentIntentKeyAdded': {
      const { kid, public_key: publicKey, by: createdBy, at: createdAt } = event.data;
      return { ...state, intentKeys: [...state.intentKeys, { kid, publicKey, createdBy, createdAt }] };
    }
    case 'AgentIntentKeyRemoved':
      return { ...state, intentKeys: state.intentKeys.filter(({ kid }) => kid !== event.data.kid) };
    case 'AgentIntentModeSet':
      return { ...state, intentMode: event.data.to };
    case 'AgentLabelsSet':
      return { ...state, labels: event.data.labels };
    case 'AgentBudgetsSet': {
      const { calls_per_day, spend_per_day } = event.data;
      return { ...state, budgets: { calls_per_day, spend_per_day } };
    }
    case 'AgentStopped':
      return { ...state, status: 'stopped', statusReason: event.data.reason };
    case 'AgentSuspended':
      return { ...state, status: 'suspended', statusReason: event.data.reason };
    case 'AgentResumed':
      return { ...state, status: 'active', statusReason: null };
  }
};

const NEW_AGENT = {
  status: 'active',
  statusReason: null,
  intentMode: 'off',
  intentKeys: [],
  budgets: { calls_per_day: null, spend_per_day: null },
} as const;

export const agentDecider: Decider<Agent, AgentCommand, AgentEvent> = {
  category: 'agent',
  eventTypes: {
    AgentRegistered: true,
    AgentKeyCreated: true,
    AgentKeyRolled: true,
    AgentKeyRevoked: true,
    AgentIntentKeyAdded: true,
    AgentIntentKeyRemoved: true,
    AgentIntentModeSet: true,
    AgentLabelsSet: true,
    AgentBudgetsSet: true,
    AgentStopped: true,
    AgentSuspended: true,
    AgentResumed: true,
  },
  initialState,
  decide,
  evolve,
};
