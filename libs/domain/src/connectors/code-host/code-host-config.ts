import type { JsonObject } from '#libs/crypto';

/** What a config and a call may hold at most. */
export const CODE_HOST_LIMITS = {
  configBytes: 65_536,
  repositories: 64,
  repositoryCharacters: 140,
  protectedBranches: 64,
  branchCharacters: 244,
  /** The arguments of a call are at most 256 KiB (rule FORM-7), in which line ends and quotes take two bytes. */
  fileBytesMax: 196_608,
  baseUrlCharacters: 2_048,
  pathCharacters: 1_024,
  titleCharacters: 256,
  /** The host takes 65,536, of which the marker of the action has some. */
  textCharacters: 65_000,
  listMax: 25,
} as const;

export const MERGE_METHODS = ['merge', 'squash', 'rebase'] as const;
export type MergeMethod = (typeof MERGE_METHODS)[number];

export const DEFAULT_PROTECTED_BRANCHES: readonly string[] = ['main', 'master'];

/** A config as stored: every default filled in. */
export interface CodeHostConfig {
  readonly provider: 'github';
  /** `owner/name`, as calls name them, letter for letter. No policy opens another one. */
  readonly repositories: readonly string[];
  /** Branches that no tool writes to; one that ends in `/*` stands for all below it. */
  readonly protected_branches: readonly string[];
  /** Whether agents may write what the host runs or obeys: `.github/` and CODEOWNERS. */
  readonly allow_workflows: boolean;
  readonly merge_methods: readonly MergeMethod[];
  readonly max_file_bytes: number;
  /** An Enterprise Server, without a path. Absent: github.com. */
  readonly base_url?: string;
}

const CLOUD_URL = 'https://api.github.com';
/** Enterprise Cloud with data residency: its API has a host of its own, as that of github.com. */
const RESIDENT_API = /^api\.[a-z0-9-]+\.ghe\.com$/;

/** What the log holds was checked before it was written. */
export const codeHostConfigOf = (stored: JsonObject): CodeHostConfig => stored as unknown as CodeHostConfig;

export const originOf = ({ base_url }: CodeHostConfig): string => base_url ?? CLOUD_URL;

/** What stands before every path: an Enterprise Server serves its API beside its pages. */
export const basePathOf = ({ base_url }: CodeHostConfig): string =>
  base_url === undefined || RESIDENT_API.test(hostnameOf(base_url)) ? '' : '/api/v3';

/** In lower case, without the dot that a name may end in: with it and without it is one host. */
export const hostnameOf = (url: string): string => new URL(url).hostname.replace(/\.$/, '');
