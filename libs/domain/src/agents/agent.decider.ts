import { DomainError, type Decider } from '../kernel/index.js';
import { isRevocable, newKey, requireRollable, requireRoomForKey, withChangedKey, withKey } from '../people/index.js';
import type { AgentCommand } from './agent.commands.js';
import type { AgentEvent } from './agent.events.js';
import type { Agent } from './agent.state.js';

const initialState = (): Agent => ({ status: 'none' });

const decide = (command: AgentCommand, state: Agent): readonly AgentEvent[] => {
  const at = command.metadata.now;
  if (command.type === 'RegisterAgent') {
    if (state.status !== 'none') throw new DomainError('conflict');
    return [{ type: 'AgentRegistered', data: { ...command.data, at } }];
  }
  if (state.status === 'none') throw new DomainError('not_found');
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
    case 'StopAgent':
      // A suspension already refuses everything a Stop would, and outlives it.
      return state.status === 'active' ? [{ type: 'AgentStopped', data: { ...of, ...command.data, at } }] : [];
    case 'SuspendAgent':
      return state.status === 'suspended' ? [] : [{ type: 'AgentSuspended', data: { ...of, ...command.data, at } }];
    case 'ResumeAgent':
      return state.status === 'active' ? [] : [{ type: 'AgentResumed', data: { ...of, ...command.data, at } }];
  }
};

const evolve = (state: Agent, event: AgentEvent): Agent => {
  if (event.type === 'AgentRegistered') {
    const { at, ...registered } = event.data;
    return { status: 'active', ...registered, intentMode: 'off', createdAt: at, keys: new Map() };
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
      const keys = withChangedKey(state.keys, key, { expiresAt });
      const made = { ...newKey(successor, at, rolled), scopes: rolled?.scopes ?? [] };
      return { ...state, keys: withKey(keys, made) };
    }
    case 'AgentKeyRevoked':
      return { ...state, keys: withChangedKey(state.keys, event.data.key, { revokedAt: event.data.at }) };
    case 'AgentStopped':
      return { ...state, status: 'stopped' };
    case 'AgentSuspended':
      return { ...state, status: 'suspended' };
    case 'AgentResumed':
      return { ...state, status: 'active' };
  }
};

export const agentDecider: Decider<Agent, AgentCommand, AgentEvent> = {
  category: 'agent',
  eventTypes: {
    AgentRegistered: true,
    AgentKeyCreated: true,
    AgentKeyRolled: true,
    AgentKeyRevoked: true,
    AgentStopped: true,
    AgentSuspended: true,
    AgentResumed: true,
  },
  initialState,
  decide,
  evolve,
};
