import type { ConfigPlace } from '../config-keys.js';

/** The keys of a payments config. */
export const PAYMENTS_PLACES = {
  config: {
    path: 'config',
    keys: ['api_version', 'refund_limits', 'refund_reasons', 'base_url'],
    misplaced: {
      livemode: 'A connector of this type works in the sandbox alone, and no setting changes that.',
      api_key: 'Store the key with PUT /v1/connectors/{id}/credentials, where nobody can read it again.',
    },
  },
} as const satisfies Readonly<Record<string, ConfigPlace>>;
