import type { ConnectorTypeRules } from '../connector-type.js';
import { DATABASE_CATALOGUE } from './database-catalogue.js';
import { databaseConfigOf, destinationOf } from './database-config.js';
import { readDatabaseConfig, storedDatabaseConfigOf } from './database-config.reader.js';

export const DATABASE: ConnectorTypeRules = {
  catalogueEntry: DATABASE_CATALOGUE,
  addressKey: 'host',
  readConfig: (config, settings) => storedDatabaseConfigOf(readDatabaseConfig(config, settings)),
  destinationsOf: (config) => [destinationOf(databaseConfigOf(config))],
};
