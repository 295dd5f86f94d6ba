import type { ConfigPlace } from '../config-keys.js';

/** The keys of a code host's config. */
export const CODE_HOST_PLACES = {
  config: {
    path: 'config',
    keys: [
      'provider',
      'base_url',
      'repositories',
      'protected_branches',
      'allow_workflows',
      'merge_methods',
      'max_file_bytes',
    ],
    misplaced: {
      token: 'Store the token with PUT /v1/connectors/{id}/credentials, where nobody can read it again.',
      auth: 'A connector of this type takes a credential of kind bearer, and its config says nothing of it.',
      owner: 'Name each repository whole in repositories, as owner/name.',
    },
  },
} as const satisfies Readonly<Record<string, ConfigPlace>>;
