import { type Decider, DomainError } from '../kernel/index.js';
import type { CheckedConfig, ConnectorCommand } from './connector.commands.js';
import type { ConnectorEvent } from './connector.events.js';
import { type ConnectorState, isLive, type LiveConnector } from './connector.state.js';
import { credentialKindOf, isKindOfType } from './connector-types.js';
import { acceptedTools, afterAccepted, afterRecorded, type RecordedTools, recordedTools } from './discovered-tools.js';

type DataOf<Type extends ConnectorCommand['type']> = Extract<ConnectorCommand, { type: Type }>['data'];

const initialState = (): ConnectorState => ({ status: 'none' });

const decide = (command: ConnectorCommand, state: ConnectorState): readonly ConnectorEvent[] => {
  const at = command.metadata.now;
  if (command.type === 'CreateConnector') return create(command.data, state, at);
  const { connector } = command.data;
  if (!isLive(state) || (connector !== null && connector !== state.id)) throw new DomainError('not_found');
  const of = { org: state.org, connector: state.id, name: state.name, at };
  switch (command.type) {
    case 'UpdateConnector': {
      const changes = changesOf(command.data, state);
      return Object.keys(changes).length === 0 ? [] : [{ type: 'ConnectorUpdated', data: { ...of, ...changes } }];
    }
    case 'DisableConnector':
      return state.status === 'disabled' ? [] : [{ type: 'ConnectorDisabled', data: disabledBy(command.data, of) }];
    case 'DeleteConnector':
      return [{ type: 'ConnectorDeleted', data: { ...of, credential_version: state.credential?.version ?? null } }];
    case 'PutCredentials':
      requireFittingKind(command.data.credential.kind, state);
      return [{ type: 'ConnectorCredentialsUpdated', data: { ...of, ...command.data.credential } }];
    case 'RemoveCredentials':
      return state.credential === null
        ? []
        : [{ type: 'ConnectorCredentialsRemoved', data: { ...of, version: state.credential.version } }];
    case 'RecordTools': {
      const recorded = toolsToRecord(command.data, state, at);
      return recorded === null ? [] : [{ type: 'ConnectorToolsRecorded', data: { ...of, ...recorded } }];
    }
    case 'AcceptTools': {
      const accepted = acceptedTools(command.data.tools, state.discovered);
      return accepted === null ? [] : [{ type: 'ConnectorToolsAccepted', data: { ...of, ...accepted } }];
    }
  }
};

type Disabled = Extract<ConnectorEvent, { type: 'ConnectorDisabled' }>['data'];

const disabledBy = (
  { reason, upstreamRequestId }: DataOf<'DisableConnector'>,
  of: Omit<Disabled, 'reason' | 'upstream_request_id'>,
): Disabled =>
  upstreamRequestId === null ? { ...of, reason } : { ...of, reason, upstream_request_id: upstreamRequestId };

const create = (data: DataOf<'CreateConnector'>, state: ConnectorState, at: string): readonly ConnectorEvent[] => {
  if (isLive(state)) {
    throw new DomainError('conflict', {
      param: 'name',
      message: 'A connector of this name exists. Choose another name, or change that connector.',
    });
  }
  const { configHash, ...created } = data;
  return [{ type: 'ConnectorCreated', data: { ...created, config_hash: configHash, at } }];
};

type Changes = Omit<Extract<ConnectorEvent, { type: 'ConnectorUpdated' }>['data'], 'org' | 'connector' | 'name' | 'at'>;

const changesOf = (data: DataOf<'UpdateConnector'>, state: LiveConnector): Changes => {
  if (data.expectedConfigHash !== undefined && data.expectedConfigHash !== state.configHash) {
    throw new DomainError('conflict', {
      param: 'expected_config_hash',
      message:
        'The config is not the one of expected_config_hash: it has changed since you read it. Read the connector again and decide anew.',
    });
  }
  return {
    ...(data.description !== undefined && data.description !== state.description
      ? { description: data.description }
      : {}),
    ...(data.status !== undefined && data.status !== state.status ? { status: data.status } : {}),
    ...(data.config !== undefined && data.config.configHash !== state.configHash ? changedConfig(data.config) : {}),
  };
};

const changedConfig = ({ config, configHash }: CheckedConfig): Changes => ({ config, config_hash: configHash });

const toolsToRecord = (
  { list, rule, since }: DataOf<'RecordTools'>,
  { configHash, discovered }: LiveConnector,
  at: string,
): RecordedTools | null => {
  if (since.configHash !== configHash) {
    throw new DomainError('conflict', { message: 'The config was changed while the server was asked. Ask it again.' });
  }
  return recordedTools(list, { before: discovered, after: since.listDigest, rule, at });
};

/** The credential must be of the kind that the type, or `auth.kind` of the config, asks for (rule CON-3). */
const requireFittingKind = (kind: string, state: LiveConnector): void => {
  const expected = credentialKindOf(state);
  if (kind === expected) return;
  const message = isKindOfType(state.type)
    ? `A connector of type ${state.type} takes credentials of kind ${expected}. Send that kind.`
    : `The connector's config asks for credentials of kind ${expected}. Send that kind, or change auth.kind first.`;
  throw new DomainError('validation_failed', { param: 'kind', message });
};

const evolve = (state: ConnectorState, event: ConnectorEvent): ConnectorState => {
  const { at } = event.data;
  switch (event.type) {
    case 'ConnectorCreated': {
      const { connector, config_hash: configHash, at: createdAt, ...created } = event.data;
      const nothingYet = { credential: null, disabledReason: null };
      return { status: 'active', id: connector, configHash, createdAt, updatedAt: at, ...created, ...nothingYet };
    }
    case 'ConnectorUpdated':
      return isLive(state) ? updated(state, event.data) : state;
    case 'ConnectorDisabled':
      return isLive(state) ? { ...state, status: 'disabled', disabledReason: event.data.reason, updatedAt: at } : state;
    case 'ConnectorDeleted':
      return { status: 'deleted' };
    case 'ConnectorCredentialsUpdated': {
      const { kind, fields, hint, version } = event.data;
      return isLive(state)
        ? { ...state, credential: { kind, fields, hint, version, setAt: at }, updatedAt: at }
        : state;
    }
    case 'ConnectorCredentialsRemoved':
      return isLive(state) ? { ...state, credential: null, updatedAt: at } : state;
    case 'ConnectorToolsRecorded':
      return isLive(state) ? listed(state, event.data) : state;
    case 'ConnectorToolsAccepted':
      return isLive(state) && state.discovered !== undefined
        ? { ...state, discovered: afterAccepted(state.discovered, event.data, at), updatedAt: at }
        : state;
  }
};

const updated = (
  state: LiveConnector,
  data: Extract<ConnectorEvent, { type: 'ConnectorUpdated' }>['data'],
): LiveConnector => ({
  ...state,
  description: data.description === undefined ? state.description : data.description,
  status: data.status ?? state.status,
  config: data.config ?? state.config,
  configHash: data.config_hash ?? state.configHash,
  // Whoever sets the status answers for it from then on.
  disabledReason: data.status === undefined ? state.disabledReason : null,
  updatedAt: data.at,
});

const listed = (
  state: LiveConnector,
  data: Extract<ConnectorEvent, { type: 'ConnectorToolsRecorded' }>['data'],
): LiveConnector => ({
  ...state,
  discovered: afterRecorded(state.discovered, data, data.at),
  listedWith: { configHash: state.configHash, credentialVersion: state.credential?.version ?? null },
  updatedAt: data.at,
});

export const connectorDecider: Decider<ConnectorState, ConnectorCommand, ConnectorEvent> = {
  category: 'connector',
  eventTypes: {
    ConnectorCreated: true,
    ConnectorUpdated: true,
    ConnectorDisabled: true,
    ConnectorDeleted: true,
    ConnectorCredentialsUpdated: true,
    ConnectorCredentialsRemoved: true,
    ConnectorToolsRecorded: true,
    ConnectorToolsAccepted: true,
  },
  initialState,
  decide,
  evolve,
};
