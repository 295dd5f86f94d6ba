import type { JsonObject, JsonValue } from '#libs/crypto';

import { hostNameFault } from '../../kernel/index.js';
import { ConfigProblems } from '../config-problems.js';
import { ConfigReader } from '../config-reader.js';
import {
  CODE_HOST_LIMITS,
  type CodeHostConfig,
  DEFAULT_PROTECTED_BRANCHES,
  hostnameOf,
  MERGE_METHODS,
  type MergeMethod,
} from './code-host-config.js';
import { CODE_HOST_PLACES } from './code-host-keys.js';
import { branchFault, isRepository } from './code-host-names.js';

/** Scheme, host and port alone. */
const ORIGIN = /^https?:\/\/[^\s\p{Cc}\\@?#/]+$/u;

export interface CodeHostConfigSettings {
  readonly isProduction: boolean;
}

/**
 * Reads the config of a code host and fills the defaults in.
 * @throws {DomainError} validation_failed, `param` the first problem's field, for example `config.repositories[1]`
 */
export const readCodeHostConfig = (value: JsonValue, settings: CodeHostConfigSettings): CodeHostConfig => {
  const problems = new ConfigProblems(value);
  const config = readConfig(value, settings, problems);
  problems.throwIfAny();
  return config as CodeHostConfig;
};

const readConfig = (
  value: JsonValue,
  settings: CodeHostConfigSettings,
  problems: ConfigProblems,
): CodeHostConfig | undefined => {
  const reader = ConfigReader.of(value, 'config', problems);
  if (reader === null) return undefined;
  const provider = reader.choice('provider', ['github'] as const) ?? 'github';
  const baseUrl = readBaseUrl(reader, settings);
  const repositories = readRepositories(reader);
  const branches = readBranches(reader);
  const allowsWorkflows = reader.flag('allow_workflows') ?? false;
  const methods = readMethods(reader);
  const { fileBytesMax } = CODE_HOST_LIMITS;
  const maxFileBytes = reader.integer('max_file_bytes', { min: 1, max: fileBytesMax }) ?? fileBytesMax;
  reader.refuseUnknown(CODE_HOST_PLACES.config);
  if (repositories === undefined || branches === undefined || methods === undefined) return undefined;
  const config = {
    ...{ provider, repositories, protected_branches: branches, allow_workflows: allowsWorkflows },
    ...{ merge_methods: methods, max_file_bytes: maxFileBytes },
  };
  return baseUrl === undefined ? config : { ...config, base_url: baseUrl };
};

const readRepositories = (reader: ConfigReader): readonly string[] | undefined => {
  reader.require('repositories');
  if (!reader.has('repositories')) return undefined;
  const given = reader.list('repositories', { min: 1, max: CODE_HOST_LIMITS.repositories });
  if (given === undefined) return undefined;
  const wrong = given.findIndex((name) => typeof name !== 'string' || !isRepository(name));
  if (wrong >= 0) return reader.report(`repositories[${wrong}]`, 'must be one repository, as owner/name.');
  // The host takes Owner/Name and owner/name for one.
  return namedOnce(reader, 'repositories', given as readonly string[]);
};

const readBranches = (reader: ConfigReader): readonly string[] | undefined => {
  if (!reader.has('protected_branches')) return DEFAULT_PROTECTED_BRANCHES;
  const given = reader.list('protected_branches', { min: 0, max: CODE_HOST_LIMITS.protectedBranches });
  if (given === undefined) return undefined;
  for (const [index, branch] of given.entries()) {
    const fault = typeof branch === 'string' ? branchFault(branch.replace(/\/\*$/, '')) : 'must be a string';
    if (fault !== null)
      return reader.report(`protected_branches[${index}]`, `${fault}. release/* stands for all below release/.`);
  }
  return namedOnce(reader, 'protected_branches', given as readonly string[]);
};

const namedOnce = (reader: ConfigReader, key: string, names: readonly string[]): readonly string[] | undefined => {
  const seen = names.map((name) => name.toLowerCase());
  const again = seen.findIndex((name, index) => seen.indexOf(name) < index);
  return again < 0
    ? names
    : reader.report(`${key}[${again}]`, 'is named twice: the case of letters counts for nothing.');
};

const readMethods = (reader: ConfigReader): readonly MergeMethod[] | undefined => {
  if (!reader.has('merge_methods')) return MERGE_METHODS;
  const given = reader.list('merge_methods', { min: 0, max: MERGE_METHODS.length });
  if (given === undefined) return undefined;
  const methods = given.map((method) => MERGE_METHODS.find((known) => known === method));
  const unknown = methods.indexOf(undefined);
  if (unknown >= 0) return reader.report(`merge_methods[${unknown}]`, `must be one of ${MERGE_METHODS.join(', ')}.`);
  if (new Set(methods).size < methods.length) return reader.report('merge_methods', 'must name each method once.');
  return methods as readonly MergeMethod[];
};

const readBaseUrl = (reader: ConfigReader, { isProduction }: CodeHostConfigSettings): string | undefined => {
  const text = reader.text('base_url', { maxCharacters: CODE_HOST_LIMITS.baseUrlCharacters });
  if (text === undefined) return undefined;
  const fault = baseUrlFault(text, isProduction);
  return fault === null ? text : reader.report('base_url', fault);
};

const baseUrlFault = (text: string, isProduction: boolean): string | null => {
  const scheme = isProduction ? 'https://' : 'http:// or https://';
  if (!(isProduction ? /^https:\/\// : /^https?:\/\//).test(text)) return `must begin with ${scheme}.`;
  if (/\/api\/v3\/?$/.test(text)) return 'must have no path: /api/v3 of an Enterprise Server is added.';
  if (!ORIGIN.test(text) || !URL.canParse(text))
    return 'must be the scheme, a host and where it needs one a port, and no path.';
  const hostname = hostnameOf(text);
  if (/(?:^|\.)github\.com$/.test(hostname)) return 'must be left out for github.com.';
  if (/\.ghe\.com$/.test(hostname) && !hostname.startsWith('api.'))
    return `must name the host of the API: https://api.${hostname}.`;
  const hostFault = hostNameFault(text);
  return hostFault === null ? null : `${hostFault}, so it leads nowhere.`;
};

/** The JSON that is stored and hashed. */
export const storedCodeHostConfigOf = (config: CodeHostConfig): JsonObject => config as unknown as JsonObject;
