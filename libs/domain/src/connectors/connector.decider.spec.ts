import { digestOfJson, type JsonObject } from '#libs/crypto';
import { describe, expect, it } from 'vitest';

import { type CommandMetadata, type ConnectorId, DomainError, type OrgId } from '../kernel/index.js';
import type { ConnectorCommand } from './connector.commands.js';
import { connectorDecider } from './connector.decider.js';
import type { ConnectorEvent, CredentialFacts } from './connector.events.js';
import { connectorStreamId } from './connector.state.js';

const org = 'org_00000000000000000000000001' as OrgId;
const first = 'con_00000000000000000000000001' as ConnectorId;
const second = 'con_00000000000000000000000002' as ConnectorId;
const at = '2026-10-01T12:00:00.000Z';
const later = '2026-10-02T12:00:00.000Z';
const metadata: CommandMetadata = {
  org,
  actor: { type: 'system', id: null },
  requestId: null,
  commandId: 'command-1',
  now: at,
};
const config = (timeoutMs: number, kind = 'bearer'): JsonObject => ({ auth: { kind }, timeout_ms: timeoutMs });
const checked = (timeoutMs: number, kind = 'bearer') => {
  const value = config(timeoutMs, kind);
  return { config: value, configHash: digestOfJson(value) };
};
const of = (connector = first) => ({ org, connector, name: 'crm', at });
const created = (connector = first, kind = 'bearer'): ConnectorEvent => {
  const { config: stored, configHash } = checked(1_000, kind);
  return {
    type: 'ConnectorCreated',
    data: { ...of(connector), type: 'rest', description: null, config: stored, config_hash: configHash },
  };
};
const credential: CredentialFacts = { kind: 'bearer', fields: ['token'], hint: '9f3a', version: 'v1' };
const stored: ConnectorEvent = { type: 'ConnectorCredentialsUpdated', data: { ...of(), ...credential } };
const deleted: ConnectorEvent = { type: 'ConnectorDeleted', data: { ...of(), credential_version: null } };

const fold = (events: readonly ConnectorEvent[]) =>
  events.reduce(connectorDecider.evolve, connectorDecider.initialState());
const given = (...events: readonly ConnectorEvent[]) => ({
  when: (command: Omit<ConnectorCommand, 'metadata'>) => {
    const run = () => connectorDecider.decide({ ...command, metadata } as ConnectorCommand, fold(events));
    return {
      then: (...expected: readonly ConnectorEvent[]) => expect(run()).toEqual(expected),
      thenRefuses: (code: string, param: string | null = null) => {
        expect(run).toThrow(DomainError);
        expect(() => run()).toThrow(expect.objectContaining({ code, param }) as Error);
      },
    };
  },
});

describe('connector: one live connector of a name', () => {
  const create: Omit<ConnectorCommand, 'metadata'> = {
    type: 'CreateConnector',
    data: { org, connector: second, name: 'crm', type: 'rest', description: null, ...checked(1_000) },
  };

  it('a free name is taken', () => given().when(create).then(created(second)));
  it('a live name is a conflict on name', () => given(created()).when(create).thenRefuses('conflict', 'name'));
  it('a disabled connector keeps its name', () =>
    given(created(), { type: 'ConnectorDisabled', data: { ...of(), reason: 'livemode_detected' } })
      .when(create)
      .thenRefuses('conflict', 'name'));
  it('a deleted name is free again, for another id', () =>
    given(created(), deleted).when(create).then(created(second)));
  it('the stream is named by organization and name', () => expect(connectorStreamId(org, 'crm')).toBe(`${org}-crm`));
});

describe('connector: which life a command means', () => {
  const update = (connector: ConnectorId | null): Omit<ConnectorCommand, 'metadata'> => ({
    type: 'UpdateConnector',
    data: { connector, status: 'disabled' },
  });

  it('the id of an earlier life is not found', () =>
    given(created(), deleted, created(second)).when(update(first)).thenRefuses('not_found'));
  it('by name, the live one is meant', () =>
    given(created(), deleted, created(second))
      .when(update(null))
      .then({ type: 'ConnectorUpdated', data: { ...of(second), status: 'disabled' } }));
  it('a name never used is not found', () => given().when(update(null)).thenRefuses('not_found'));
  it('a deleted connector is not found', () => given(created(), deleted).when(update(first)).thenRefuses('not_found'));
});

describe('connector: PATCH', () => {
  const update = (data: object): Omit<ConnectorCommand, 'metadata'> => ({
    type: 'UpdateConnector',
    data: { connector: first, ...data },
  });

  it('holds only what changed', () =>
    given(created())
      .when(update({ description: 'Customers', status: 'active', config: checked(1_000) }))
      .then({ type: 'ConnectorUpdated', data: { ...of(), description: 'Customers' } }));
  it('leaves no event when nothing changes', () =>
    given(created())
      .when(update({ description: null, status: 'active', config: checked(1_000) }))
      .then());
  it('a config is replaced whole, with its hash', () => {
    const { config: next, configHash } = checked(2_000);
    given(created())
      .when(update({ config: checked(2_000), expectedConfigHash: checked(1_000).configHash }))
      .then({ type: 'ConnectorUpdated', data: { ...of(), config: next, config_hash: configHash } });
  });
  it('another config hash than expected is a conflict', () =>
    given(created())
      .when(update({ config: checked(2_000), expectedConfigHash: checked(3_000).configHash }))
      .thenRefuses('conflict', 'expected_config_hash'));
  it('enabling again clears the reason of the breaker', () => {
    const tripped: ConnectorEvent = { type: 'ConnectorDisabled', data: { ...of(), reason: 'livemode_detected' } };
    const enabled: ConnectorEvent = { type: 'ConnectorUpdated', data: { ...of(), status: 'active' } };
    expect(fold([created(), tripped])).toMatchObject({ status: 'disabled', disabledReason: 'livemode_detected' });
    given(created(), tripped)
      .when(update({ status: 'active' }))
      .then(enabled);
    expect(fold([created(), tripped, enabled])).toMatchObject({ status: 'active', disabledReason: null });
  });
  it('a breaker trips once', () =>
    given(created(), { type: 'ConnectorDisabled', data: { ...of(), reason: 'first' } })
      .when({ type: 'DisableConnector', data: { connector: null, reason: 'second', upstreamRequestId: null } })
      .then());
  it.each([
    ['the request that tripped it', 'req_1', { upstream_request_id: 'req_1' }],
    ['no request where none is known', null, {}],
  ])('a breaker names %s', (_, upstreamRequestId, named) =>
    given(created())
      .when({ type: 'DisableConnector', data: { connector: first, reason: 'livemode_detected', upstreamRequestId } })
      .then({ type: 'ConnectorDisabled', data: { ...of(), reason: 'livemode_detected', ...named } }),
  );
});

describe('connector: credentials', () => {
  const put = (kind: CredentialFacts['kind']): Omit<ConnectorCommand, 'metadata'> => ({
    type: 'PutCredentials',
    data: { connector: first, credential: { ...credential, kind } },
  });
  const remove: Omit<ConnectorCommand, 'metadata'> = { type: 'RemoveCredentials', data: { connector: first } };

  it('the kind of the config is stored, as facts only', () => given(created()).when(put('bearer')).then(stored));
  it('another kind than auth.kind is refused', () =>
    given(created(first, 'basic')).when(put('bearer')).thenRefuses('validation_failed', 'kind'));
  it('new credentials replace the old ones, from then on', () =>
    expect(
      fold([
        created(),
        stored,
        { type: 'ConnectorCredentialsUpdated', data: { ...of(), at: later, ...credential, version: 'v2' } },
      ]),
    ).toMatchObject({ credential: { version: 'v2', setAt: later } }));
  it('removing names the version that goes', () =>
    given(created(), stored)
      .when(remove)
      .then({ type: 'ConnectorCredentialsRemoved', data: { ...of(), version: 'v1' } }));
  it('removing nothing leaves no event', () => given(created()).when(remove).then());
  it('deleting the connector names the credential that goes with it', () =>
    given(created(), stored)
      .when({ type: 'DeleteConnector', data: { connector: first } })
      .then({ type: 'ConnectorDeleted', data: { ...of(), credential_version: 'v1' } }));
  it('a new life starts without credentials', () =>
    expect(fold([created(), stored, deleted, created(second)])).toMatchObject({ id: second, credential: null }));
});
