import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { CONNECTOR_CATALOGUE, ConnectorDriver, isNamedByServer, SERVED_TYPES } from '#libs/domain/connectors';
import { EgressDoor } from '#libs/infra/egress';
import { SystemClock, SystemRandomness } from '#libs/infra/runtime';

import { silentLogger } from '../../../../test/support/silent-logger.js';
import { ConnectorDrivers } from './connector-drivers.js';
import { loadSqlParser } from './database/sql/index.js';
import type { DriverTools } from './driver-tools.js';
import { OpenVault } from './testing/open-vault.js';

const root = new URL('../../../../', import.meta.url);
const door = new EgressDoor({
  settings: { allowPrivate: false, allowPlainText: false, allow: [], ownEndpoints: () => [] },
});
const tools: DriverTools = {
  door,
  vault: new OpenVault(),
  clock: new SystemClock(),
  randomness: new SystemRandomness(),
  logger: silentLogger,
  recorder: { record: (connector) => Promise.resolve(connector) },
  sql: await loadSqlParser(),
};
const drivers = new ConnectorDrivers(tools, { isProduction: false });
door.close();

describe('connector types', () => {
  it('that are served are those that have a driver', () => {
    expect([...drivers.types].sort()).toEqual([...SERVED_TYPES].sort());
  });

  it.each(SERVED_TYPES)('%s: driver, catalogue entry and guide are of this type', (type) => {
    const guide = `docs/connectors-${type.replaceAll('_', '-')}.md`;
    expect(drivers.driverOf(type)?.type).toBe(type);
    expect(CONNECTOR_CATALOGUE.filter((entry) => entry.type === type)).toHaveLength(1);
    expect(existsSync(new URL(guide, root))).toBe(true);
    expect(readFileSync(new URL('README.md', root), 'utf8')).toContain(`(${guide})`);
  });

  it('that are for development alone have no driver in production, so that no call of theirs runs', () => {
    const inProduction = new ConnectorDrivers(tools, { isProduction: true });
    expect(drivers.driverOf('fake')?.type).toBe('fake');
    expect(inProduction.driverOf('fake')).toBeNull();
    expect(SERVED_TYPES.filter((type) => !inProduction.types.includes(type))).toEqual(['fake']);
  });

  it.each(SERVED_TYPES)('%s: a server names its tools if its driver has one to ask', (type) => {
    const [entry] = CONNECTOR_CATALOGUE.filter((each) => each.type === type);
    expect(isNamedByServer(type)).toBe(drivers.driverOf(type)?.refreshTools !== ConnectorDriver.prototype.refreshTools);
    expect(entry?.tools_dynamic).toBe(entry?.tools_from !== 'type');
  });
});
