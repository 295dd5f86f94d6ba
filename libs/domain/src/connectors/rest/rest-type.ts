import type { ConnectorTypeRules } from '../connector-type.js';
import { REST_CATALOGUE } from './rest-catalogue.js';
import { restConfigOf } from './rest-config.js';
import { readRestConfig, storedConfigOf } from './rest-config.reader.js';

export const REST: ConnectorTypeRules = {
  catalogueEntry: REST_CATALOGUE,
  addressKey: 'base_url',
  readConfig: (config, settings) => storedConfigOf(readRestConfig(config, settings)),
  destinationsOf: (config) => [restConfigOf(config).base_url],
};
