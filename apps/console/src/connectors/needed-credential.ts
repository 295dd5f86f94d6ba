import type { Connector, ConnectorType } from './types.ts';

/**
 * The kind of credential that a connector needs: its config says it, or its type where every connector of that needs the same.
 * @param type undefined before the catalogue is there
 */
export const credentialKindOf = (
  { config }: Pick<Connector, 'config'>,
  type: Pick<ConnectorType, 'credentials'> | undefined,
): ConnectorType['credentials'][number]['kind'] =>
  ('auth' in config ? config.auth?.kind : undefined) ?? type?.credentials[0]?.kind ?? 'none';

/** Whether a credential is needed and not stored, so that every call fails. */
export const isCredentialMissing = (
  connector: Pick<Connector, 'config' | 'credential'>,
  type: Pick<ConnectorType, 'credentials'> | undefined,
): boolean => connector.credential === null && credentialKindOf(connector, type) !== 'none';
