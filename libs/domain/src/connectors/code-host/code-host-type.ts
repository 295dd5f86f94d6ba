import type { ConnectorTypeRules } from '../connector-type.js';
import { CODE_HOST_CATALOGUE } from './code-host-catalogue.js';
import { codeHostConfigOf, originOf } from './code-host-config.js';
import { readCodeHostConfig, storedCodeHostConfigOf } from './code-host-config.reader.js';
import { refuseOtherTokens } from './code-host-token.js';

export const CODE_HOST: ConnectorTypeRules = {
  catalogueEntry: CODE_HOST_CATALOGUE,
  addressKey: 'base_url',
  readConfig: (config, settings) => storedCodeHostConfigOf(readCodeHostConfig(config, settings)),
  destinationsOf: (config) => [originOf(codeHostConfigOf(config))],
  credentialKind: 'bearer',
  checkCredential: (_config, values) => refuseOtherTokens(values.get('token') ?? ''),
};
