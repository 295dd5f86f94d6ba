import type { ConfigSchema } from '../config-schema.js';
import { CODE_HOST_LIMITS, DEFAULT_PROTECTED_BRANCHES, MERGE_METHODS } from './code-host-config.js';

/**
 * The config of a code host for whoever draws a form of it. The rules themselves are those of the reader beside this file;
 * a spec holds the two together.
 */
export const CODE_HOST_CONFIG_SCHEMA: ConfigSchema = {
  type: 'object',
  required: ['repositories'],
  additionalProperties: false,
  properties: {
    repositories: {
      type: 'array',
      title: 'Repositories',
      description: 'What agents may read and write, each as owner/name. No policy opens another one.',
      minItems: 1,
      maxItems: CODE_HOST_LIMITS.repositories,
      uniqueItems: true,
      items: {
        type: 'string',
        title: 'Repository',
        maxLength: CODE_HOST_LIMITS.repositoryCharacters,
        examples: ['acme/shop'],
      },
    },
    protected_branches: {
      type: 'array',
      title: 'Protected branches',
      description:
        'No tool writes to them; changes reach them by a merged pull request. The default branch of each repository should be among them. release/* stands for all below release/.',
      default: [...DEFAULT_PROTECTED_BRANCHES],
      uniqueItems: true,
      maxItems: CODE_HOST_LIMITS.protectedBranches,
      items: { type: 'string', title: 'Branch', examples: ['main'] },
    },
    merge_methods: {
      type: 'array',
      title: 'How pull requests may be merged',
      default: [...MERGE_METHODS],
      uniqueItems: true,
      maxItems: MERGE_METHODS.length,
      items: { type: 'string', title: 'Method', enum: [...MERGE_METHODS] },
      'x-service-form': { more: true },
    },
    allow_workflows: {
      type: 'boolean',
      title: 'Agents may write .github/ and CODEOWNERS',
      description: 'What stands there is run or obeyed by the host, with more rights than the agent has.',
      default: false,
      'x-service-form': { more: true },
    },
    max_file_bytes: {
      type: 'integer',
      title: 'Largest file that is written',
      description: 'In bytes. All arguments of a call together are at most 256 KiB.',
      minimum: 1,
      maximum: CODE_HOST_LIMITS.fileBytesMax,
      default: CODE_HOST_LIMITS.fileBytesMax,
      'x-service-form': { more: true },
    },
    provider: {
      type: 'string',
      title: 'Provider',
      default: 'github',
      oneOf: [{ const: 'github', title: 'GitHub' }],
      'x-service-form': { more: true },
    },
    base_url: {
      type: 'string',
      format: 'uri',
      title: 'Address of an Enterprise Server',
      description: 'Leave it empty for github.com. /api/v3 is added.',
      maxLength: CODE_HOST_LIMITS.baseUrlCharacters,
      examples: ['https://github.example.com'],
      'x-service-form': { more: true },
    },
  },
};
