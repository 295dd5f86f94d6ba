import type { ConnectorTypeRules } from '../connector-type.js';
import { DATABASE_CATALOGUE } from './database-catalogue.js';
import { databaseConfigOf, destinationOf, publicationOf, slotOf } from './database-config.js';
import { readDatabaseConfig, storedDatabaseConfigOf } from './database-config.reader.js';

export const DATABASE: ConnectorTypeRules = {
  catalogueEntry: DATABASE_CATALOGUE,
  addressKey: 'host',
  readConfig: (config, settings) => storedDatabaseConfigOf(readDatabaseConfig(config, settings)),
  destinationsOf: (config) => [destinationOf(databaseConfigOf(config))],
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
