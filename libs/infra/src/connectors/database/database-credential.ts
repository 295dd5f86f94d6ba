import type { LiveConnector, OpenedSecret, Vault } from '#libs/domain/connectors';
import { destinationOf, databaseConfigOf } from '#libs/domain/connectors/database';

import type { SessionAddress } from './database-session.js';

/** Which of the two roles of a connector speaks: the one that runs statements, or the one that reads the change log. */
export type DatabaseRole = 'agent' | 'witness';

/** An address, and the secrets that nothing of an answer may repeat. */
export interface OpenedAddress extends SessionAddress {
  readonly secrets: readonly string[];
}

/**
 * Null when no credential is stored, none of this kind, or none for the role; or when it was replaced meanwhile.
 * @throws {DomainError} vault_unavailable
 */
export const openAddress = async (
  vault: Pick<Vault, 'open'>,
  connector: LiveConnector,
  role: DatabaseRole,
): Promise<OpenedAddress | null> => {
  const { credential, org, id } = connector;
  if (credential?.kind !== 'database') return null;
  const secret = await vault.open({ org, object: id, version: credential.version });
  if (secret === null) return null;
  try {
    const field = (name: string): string => fieldOf(secret, name);
    const [username, password] = role === 'agent' ? ['username', 'password'] : ['witness_username', 'witness_password'];
    const secrets = [field('password'), field('witness_password')].filter((text) => text !== '');
    if (field(username ?? '') === '') return null;
    const config = databaseConfigOf(connector.config);
    return {
      url: destinationOf(config),
      database: config.database,
      username: field(username ?? ''),
      password: field(password ?? ''),
      secrets,
    };
  } finally {
    secret.destroy();
  }
};

const fieldOf = (secret: OpenedSecret, name: string): string => Buffer.from(secret.fields.get(name) ?? []).toString();
