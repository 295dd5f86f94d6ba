import type { CatalogueEntry } from '../connector-type.js';
import { CREDENTIAL_BODY_MAX_BYTES } from '../credential.js';
import { CODE_HOST_LIMITS } from './code-host-config.js';
import { CODE_HOST_CONFIG_SCHEMA } from './code-host-config.schema.js';
import { readBackTermsOf } from './code-host-confirm.js';
import { CODE_HOST_TOOLS } from './code-host-tools.js';
import { CODE_HOST_STARTER } from './code-host-starter.js';

export const CODE_HOST_CATALOGUE: CatalogueEntry = {
  object: 'connector_type',
  type: 'code_host',
  title: 'Code host (GitHub)',
  summary:
    'Reads files, issues and pull requests of the repositories that you name, writes to branches that are not protected, and merges. Every write is sent once, and read back.',
  status: 'beta',
  icon: 'code_host',
  modes: [],
  setup_steps: [
    'Name the repositories that agents work on (repositories), and the branches that no agent writes to (protected_branches): the default branch of each repository among them, whatever it is called.',
    'Create a fine-grained token (github_pat_) for these repositories alone, with the permissions that your agents need: contents, issues, pull requests.',
    'Store it as the credential of kind bearer. It can be replaced and destroyed, but not read.',
    'Test the connector. It says whether the token is good, which repositories it sees, and what it may not read.',
    'Allow the tools in the enforced policy. Under a default deny nothing else lets a call through.',
  ],
  limits: {
    config_bytes: CODE_HOST_LIMITS.configBytes,
    credential_bytes: CREDENTIAL_BODY_MAX_BYTES,
    repositories: CODE_HOST_LIMITS.repositories,
    protected_branches: CODE_HOST_LIMITS.protectedBranches,
    file_bytes: CODE_HOST_LIMITS.fileBytesMax,
    timeout_ms: 10_000,
  },
  config_schema: CODE_HOST_CONFIG_SCHEMA,
  tools_dynamic: false,
  tools_from: 'type',
  tools: CODE_HOST_TOOLS.map(({ name, sideEffect }) => {
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
      summary: 'A fine-grained personal access token of the code host.',
      fields: [
        {
          name: 'token',
          secret: true,
          help: 'Classic tokens, and those of apps, are refused.',
          prefix_hint: 'github_pat_',
        },
      ],
    },
  ],
  starter_policy: CODE_HOST_STARTER,
};
