import type { JsonObject } from '#libs/crypto';

import { DomainError } from '../../kernel/index.js';
import type { ConnectorTypeRules } from '../connector-type.js';
import { DATABASE_CATALOGUE } from './database-catalogue.js';
import { databaseConfigOf, destinationOf, publicationOf, slotOf } from './database-config.js';
import { readDatabaseConfig, storedDatabaseConfigOf } from './database-config.reader.js';

const WITNESS_ROLE = 'witness_username';

/** A change log is read by a role of its own, because one that may replicate reads everything. */
const requireWitnessRole = (config: JsonObject, values: ReadonlyMap<string, string>): void => {
  if (!databaseConfigOf(config).witness.enabled || values.has(WITNESS_ROLE)) return;
  throw new DomainError('validation_failed', {
    param: `secret.${WITNESS_ROLE}`,
    message: `secret.${WITNESS_ROLE} and its password are required, because the config has witness.enabled: the change log is read by a role of its own.`,
  });
};

export const DATABASE: ConnectorTypeRules = {
  catalogueEntry: DATABASE_CATALOGUE,
  addressKey: 'host',
  readConfig: (config, settings) => storedDatabaseConfigOf(readDatabaseConfig(config, settings)),
  destinationsOf: (config) => [destinationOf(databaseConfigOf(config))],
  credentialKind: 'database',
  checkCredential: requireWitnessRole,
  changeLogOf: (connector, stored) => {
    const config = databaseConfigOf(stored);
    return {
      isWanted: config.witness.enabled,
      destination: destinationOf(config),
      database: config.database,
      slot: slotOf(config, connector),
      publication: publicationOf(config, connector),
      watchBypass: config.watch_bypass,
    };
  },
};
