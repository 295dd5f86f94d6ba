import { digestOf, digestOfJson, type JsonObject } from '#libs/crypto';
import { expect, it } from 'vitest';

import type { ConnectorId, OrgId } from '../kernel/index.js';
import { connectorDecider } from './connector.decider.js';
import type { ConnectorEvent } from './connector.events.js';
import { isLive } from './connector.state.js';
import { isLookOwed } from './owed-look.js';

const of = {
  org: 'org_00000000000000000000000001' as OrgId,
  connector: 'con_00000000000000000000000001' as ConnectorId,
  name: 'srv',
  at: '2026-10-01T12:00:00.000Z',
};
const configOf = (url: string, kind: string) => {
  const config: JsonObject = { url, auth: { kind } };
  return { config, config_hash: digestOfJson(config) };
};
const created = (kind: string): ConnectorEvent => ({
  type: 'ConnectorCreated',
  data: { ...of, type: 'mcp_http', description: null, ...configOf('https://one.example', kind) },
});
const moved = (url: string, kind: string): ConnectorEvent => ({
  type: 'ConnectorUpdated',
  data: { ...of, ...configOf(url, kind) },
});
const described: ConnectorEvent = { type: 'ConnectorUpdated', data: { ...of, description: 'Other words' } };
const disabled: ConnectorEvent = { type: 'ConnectorUpdated', data: { ...of, status: 'disabled' } };
const enabled: ConnectorEvent = { type: 'ConnectorUpdated', data: { ...of, status: 'active' } };
const stored = (version: string, kind: 'bearer' | 'header' = 'bearer'): ConnectorEvent => ({
  type: 'ConnectorCredentialsUpdated',
  data: { ...of, kind, fields: ['token'], hint: null, version },
});
const removed: ConnectorEvent = { type: 'ConnectorCredentialsRemoved', data: { ...of, version: 'v1' } };
const listed: ConnectorEvent = {
  type: 'ConnectorToolsRecorded',
  data: { ...of, protocol: '2026-07-28', list_digest: digestOf('[]'), tools: [], accepted: [], left_out: [] },
};

it.each<[is: string, that: string, events: readonly ConnectorEvent[]]>([
  ['owed', 'was made', [created('none')]],
  ['not owed', 'was made and listed', [created('none'), listed]],
  ['not owed', 'has no credential to ask with', [created('bearer')]],
  ['owed', 'has got its credential', [created('bearer'), stored('v1')]],
  ['not owed', 'was listed with its credential', [created('bearer'), stored('v1'), listed]],
  ['owed', 'has got another credential since', [created('bearer'), stored('v1'), listed, stored('v2')]],
  ['not owed', 'has lost its credential', [created('bearer'), stored('v1'), listed, removed]],
  ['owed', 'has moved since', [created('none'), listed, moved('https://two.example', 'none')]],
  ['not owed', 'was only described otherwise', [created('none'), listed, described]],
  [
    'not owed',
    'is back where it was listed',
    [created('none'), listed, moved('https://two.example', 'none'), moved('https://one.example', 'none')],
  ],
  [
    'not owed',
    'asks for a credential of another kind now',
    [created('bearer'), stored('v1'), listed, moved('https://one.example', 'header')],
  ],
  [
    'owed',
    'asks for no credential any more',
    [created('bearer'), stored('v1'), listed, moved('https://one.example', 'none')],
  ],
  ['not owed', 'is disabled', [created('none'), disabled]],
  ['owed', 'is enabled again', [created('none'), disabled, enabled]],
])('a look is %s at the server of a connector that %s', (is, _that, events) => {
  const state = events.reduce(connectorDecider.evolve, connectorDecider.initialState());
  expect(isLive(state) && isLookOwed(state)).toBe(is === 'owed');
});
