import type { CatalogueEntry } from '../connector-type.js';
import { CREDENTIAL_BODY_MAX_BYTES } from '../credential.js';
import { PAYMENTS_LIMITS } from './payments-config.js';
import { PAYMENTS_CONFIG_SCHEMA } from './payments-config.schema.js';
import { readBackTermsOf } from './payments-confirm.js';
import { PAYMENTS_TOOLS } from './payments-tools.js';
import { PAYMENTS_STARTER } from './payments-starter.js';

export const PAYMENTS_CATALOGUE: CatalogueEntry = {
  object: 'connector_type',
  type: 'payments',
  title: 'Payments (Stripe, sandbox)',
  summary:
    'Reads customers, charges and subscriptions, refunds and cancels, in the processor’s sandbox alone. Every write is sent once, and read back.',
  status: 'beta',
  icon: 'payments',
  modes: ['sandbox_only'],
  setup_steps: [
    'Say which version of the processor is spoken (api_version), and how much one refund may be in each currency (refund_limits).',
    'Create a restricted key in the processor’s sandbox (rk_test_), with the permissions that your agents need and no more.',
    'Store it as the credential of kind bearer. It can be replaced and destroyed, but not read; a live key is refused.',
    'Test the connector. It says whether the key is good, and what it may not read.',
    'Allow the tools in the enforced policy. Under a default deny nothing else lets a call through.',
  ],
  limits: {
    config_bytes: PAYMENTS_LIMITS.configBytes,
    credential_bytes: CREDENTIAL_BODY_MAX_BYTES,
    currencies: PAYMENTS_LIMITS.currencies,
    refund_amount_max: PAYMENTS_LIMITS.amountMax,
    timeout_ms: 30_000,
  },
  config_schema: PAYMENTS_CONFIG_SCHEMA,
  tools_dynamic: false,
  tools_from: 'type',
  tools: PAYMENTS_TOOLS.map(({ name, sideEffect }) => {
    const readBack = readBackTermsOf(name);
    return {
      name,
      side_effect: sideEffect,
      levels: readBack === null ? ['L0'] : ['L0', 'L1'],
      read_back: readBack?.sentence ?? null,
    };
  }),
  credentials: [
    {
      kind: 'bearer',
      summary: 'A secret or restricted key of the processor’s sandbox.',
      fields: [
        {
          name: 'token',
          secret: true,
          help: 'Keys of live mode, publishable keys and webhook secrets are refused.',
          prefix_hint: 'sk_test_ or rk_test_',
        },
      ],
    },
  ],
  starter_policy: PAYMENTS_STARTER,
};
