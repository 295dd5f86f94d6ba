import { describe, expect, it } from 'vitest';
import { thrown } from '../../../../test/support/thrown.js';
import { DomainError } from '../kernel/index.js';
import type { LiveConnector } from './connector.state.js';
import {
  catalogueOf,
  credentialKindOf,
  readConfig,
  readCredentialFor,
  requireServedType,
  SERVED_TYPES,
} from './connector-types.js';
import { BRIDGE_FOR_STDIO } from './mcp/mcp-keys.js';

const DEV = { isProduction: false };
const PRODUCTION = { isProduction: true };
const refusal = (type: string): DomainError => thrown(DomainError, () => requireServedType(type, DEV));
const ALL = `type must be one of ${SERVED_TYPES.join(', ')}.`;

describe('the type of a connector', () => {
  it.each(SERVED_TYPES)('%s is served', (type) => expect(requireServedType(type, DEV)).toBe(type));

  it.each(['', 'mcp', 'REST', 'constructor'])('%j is none, and those that there are are named', (type) =>
    expect(refusal(type)).toMatchObject({ code: 'validation_failed', param: 'type', status: 400, message: ALL }),
  );

  it.each(['stdio', 'mcp_stdio', 'MCP-Stdio'])('%s is none, and the way to such a server is told', (type) =>
    expect(refusal(type)).toMatchObject({ code: 'validation_failed', message: `${ALL} ${BRIDGE_FOR_STDIO}` }),
  );
});

describe('a type for development alone', () => {
  it('is none in production: it is not listed, not made and not changed to', () => {
    const typesIn = (settings: typeof DEV) => catalogueOf(settings).map(({ type }) => type);
    expect(typesIn(DEV)).toContain('fake');
    expect(typesIn(PRODUCTION)).not.toContain('fake');
    const refused = thrown(DomainError, () => readConfig('fake', {}, PRODUCTION));
    expect(refused).toMatchObject({ code: 'validation_failed', param: 'type' });
    expect(refused.message).not.toContain('fake');
    expect(readConfig('fake', {}, DEV).config).toEqual({ outcome: 'succeeded', delay_ms: 0 });
  });
});

const connectorOf = (type: LiveConnector['type'], config: LiveConnector['config']): LiveConnector =>
  ({ type, config }) as LiveConnector;
const witnessed = connectorOf('database', { auth: { kind: 'database' }, witness: { enabled: true } });
const ROLE = { username: 'agent', password: 'p' };

describe('the credential of a connector', () => {
  it.each([
    ['rest', { auth: { kind: 'header' } }, 'header'],
    ['rest', { auth: 'header' }, 'none'],
    ['rest', {}, 'none'],
    ['database', {}, 'database'],
  ] as const)('of a %s with %j is of kind %s', (type, config, kind) =>
    expect(credentialKindOf(connectorOf(type, config))).toBe(kind),
  );

  it('of a database with a witness names the role that reads the change log', () => {
    const refused = thrown(DomainError, () => readCredentialFor(witnessed, { kind: 'database', secret: ROLE }));
    expect(refused).toMatchObject({ code: 'validation_failed', param: 'secret.witness_username' });
    const both = { ...ROLE, witness_username: 'witness', witness_password: 'w' };
    expect(readCredentialFor(witnessed, { kind: 'database', secret: both }).facts.fields).toHaveLength(4);
  });
});
