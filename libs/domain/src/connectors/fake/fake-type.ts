import type { JsonObject } from '#libs/crypto';

import { EXECUTION_STATUSES } from '../../kernel/index.js';
import type { CatalogueEntry, ConnectorTypeRules } from '../connector-type.js';
import { CREDENTIAL_BODY_MAX_BYTES } from '../credential.js';
import { FAKE_LIMITS, readFakeConfig } from './fake-config.js';
import { FAKE_TOOLS } from './fake-tools.js';
import { FAKE_STARTER } from './fake-starter.js';

const CATALOGUE: CatalogueEntry = {
  object: 'connector_type',
  type: 'fake',
  title: 'Fake (development)',
  summary: 'Does nothing, and answers as its config says: to try policies, approvals and the Console without a system.',
  status: 'dev',
  icon: 'fake',
  modes: ['dev_only'],
  setup_steps: [
    'Say what becomes of every call (outcome), and how long it takes (delay_ms).',
    'Allow the tools in the enforced policy. Under a default deny nothing else lets a call through.',
  ],
  limits: {
    config_bytes: FAKE_LIMITS.configBytes,
    credential_bytes: CREDENTIAL_BODY_MAX_BYTES,
    delay_ms_max: FAKE_LIMITS.delayMsMax,
  },
  config_schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      outcome: {
        type: 'string',
        title: 'What becomes of a call',
        default: 'succeeded',
        enum: [...EXECUTION_STATUSES],
      },
      delay_ms: {
        type: 'integer',
        title: 'How long a call takes',
        description: 'In milliseconds.',
        minimum: 0,
        maximum: FAKE_LIMITS.delayMsMax,
        default: 0,
      },
    },
  },
  tools_dynamic: false,
  tools_from: 'type',
  tools: FAKE_TOOLS.map(({ name, sideEffect }) => ({ name, side_effect: sideEffect, levels: ['L0'], read_back: null })),
  credentials: [],
  starter_policy: FAKE_STARTER,
};

export const FAKE: ConnectorTypeRules = {
  catalogueEntry: CATALOGUE,
  isDevelopmentOnly: true,
  // Its calls go nowhere.
  addressKey: 'outcome',
  readConfig: (config) => readFakeConfig(config) as unknown as JsonObject,
  destinationsOf: () => [],
};
