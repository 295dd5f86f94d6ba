import { DomainError } from '../../kernel/index.js';
import type { ConnectorTypeRules } from '../connector-type.js';
import { PAYMENTS_CATALOGUE } from './payments-catalogue.js';
import { originOf, paymentsConfigOf } from './payments-config.js';
import { readPaymentsConfig, storedPaymentsConfigOf } from './payments-config.reader.js';
import { isSandboxKey, refuseLiveKey } from './payments-key.js';

export const PAYMENTS: ConnectorTypeRules = {
  catalogueEntry: PAYMENTS_CATALOGUE,
  addressKey: 'base_url',
  readConfig: (config, settings) => storedPaymentsConfigOf(readPaymentsConfig(config, settings)),
  destinationsOf: (config) => [originOf(paymentsConfigOf(config))],
  credentialKind: 'bearer',
  refuseSecret: refuseLiveKey,
  checkCredential: (_config, values) => {
    if (isSandboxKey(values.get('token') ?? '')) return;
    throw new DomainError('validation_failed', {
      param: 'secret.token',
      message:
        'secret.token must be a key of the processor’s sandbox, as it was issued: sk_test_ or rk_test_, and what follows.',
    });
  },
};
