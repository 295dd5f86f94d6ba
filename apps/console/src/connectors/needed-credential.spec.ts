import { describe, expect, it } from 'vitest';
import { credentialKindOf, isCredentialMissing } from './needed-credential.ts';
import type { Connector, ConnectorType } from './types.ts';

const bearer = { kind: 'bearer', summary: 'A key.', fields: [] } as const;
const basic = { kind: 'basic', summary: 'A name and a password.', fields: [] } as const;
const connector = (config: object): Pick<Connector, 'config' | 'credential'> =>
  ({ config, credential: null }) as unknown as Pick<Connector, 'config' | 'credential'>;
const type = (...credentials: readonly object[]) => ({ credentials }) as unknown as Pick<ConnectorType, 'credentials'>;

describe('the credential that a connector needs', () => {
  it('is of the kind that its config says', () =>
    expect(credentialKindOf(connector({ auth: { kind: 'basic' } }), type(bearer, basic))).toBe('basic'));

  it('is of the one kind of its type, where the config says nothing', () => {
    expect(credentialKindOf(connector({ api_version: '2024-06-20' }), type(bearer))).toBe('bearer');
    expect(isCredentialMissing(connector({}), type(bearer))).toBe(true);
  });

  it('is none where the type takes none, or is not known yet', () => {
    expect(isCredentialMissing(connector({ auth: { kind: 'none' } }), type(bearer))).toBe(false);
    expect(isCredentialMissing(connector({}), type())).toBe(false);
    expect(isCredentialMissing(connector({}), undefined)).toBe(false);
  });
});
