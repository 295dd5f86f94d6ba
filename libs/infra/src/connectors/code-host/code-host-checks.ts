import type { JsonValue } from '#libs/crypto';
import {
  type CallOutcome,
  type CheckFinding,
  COMMON_CHECKS,
  type ConnectorCheck,
  failedCheck,
  passedCheck,
  skippedCheck,
  type TestedConnector,
} from '#libs/domain/connectors';
import { codeHostConfigOf, isProtectedBranch, type Parameter } from '#libs/domain/connectors/code-host';

import type { EndedCodeHostCall } from './code-host-line.js';

type Read = (tested: TestedConnector, path: string, query: readonly Parameter[]) => Promise<EndedCodeHostCall>;

/**
 * Whether the token is taken, which of the repositories it sees, and what it may not read. The host tells nobody what a
 * fine-grained token may write, and it cannot be tried without writing.
 */
export const codeHostChecks = (send: Read): readonly ConnectorCheck[] => {
  const read = readOnce(send);
  return [
    { name: 'auth', restsOn: COMMON_CHECKS, run: (tested) => authFinding(read, tested) },
    { name: 'repositories', restsOn: ['auth'], run: (tested) => repositoriesFinding(read, tested) },
    // Not on `repositories`: that fails for one of several, too, and these look at the others.
    { name: 'permissions', restsOn: ['auth'], run: (tested) => permissionsFinding(read, tested) },
    { name: 'protection', restsOn: ['auth'], run: (tested) => protectionFinding(read, tested) },
  ];
};

/** Several checks look at the same repositories: each is read once for a test. */
const readOnce = (send: Read): Read => {
  const known = new WeakMap<TestedConnector, Map<string, Promise<EndedCodeHostCall>>>();
  return (tested, path, query) => {
    const ofTest = known.get(tested) ?? new Map<string, Promise<EndedCodeHostCall>>();
    known.set(tested, ofTest);
    const ended = ofTest.get(path) ?? send(tested, path, query);
    ofTest.set(path, ended);
    return ended;
  };
};

const authFinding = async (read: Read, tested: TestedConnector): Promise<CheckFinding> => {
  const ended = await read(tested, '/user', []);
  if (ended.outcome.errorCode !== null) return unansweredFinding(ended.outcome);
  // The host names scopes of a classic token alone.
  if ((headerOf(ended, 'x-oauth-scopes') ?? '') !== '') {
    const detail = 'The code host takes the token for a classic one, which opens every repository of its owner.';
    return { ...failedCheck(detail, FINE_GRAINED), onlyWarns: true };
  }
  const until = expiryOf(ended);
  return passedCheck(`The code host takes the token.${until === null ? '' : ` It ends on ${until}.`}`);
};

const headerOf = ({ answer }: EndedCodeHostCall, name: string): string | null =>
  answer?.response.headers.find(([sent]) => sent === name)?.[1] ?? null;

/** A day alone is kept of it: an upstream's words are not said again. */
const expiryOf = (ended: EndedCodeHostCall): string | null =>
  /^(20\d{2}-\d{2}-\d{2})[ T]/.exec(headerOf(ended, 'github-authentication-token-expiration') ?? '')?.[1] ?? null;

const repositoriesFinding = async (read: Read, tested: TestedConnector): Promise<CheckFinding> => {
  const { repositories } = codeHostConfigOf(tested.connector.config);
  const unseen: string[] = [];
  const moved: string[] = [];
  const fixed: string[] = [];
  for (const name of repositories) {
    const { outcome, answer, body } = await read(tested, `/repos/${name}`, []);
    const status = answer?.response.status ?? 0;
    if (status === 404 || (status === 403 && outcome.errorCode === 'upstream_auth_failed')) unseen.push(name);
    else if (status >= 300 && status < 400) moved.push(name);
    else if (outcome.errorCode !== null) return unansweredFinding(outcome);
    else if (flagAt(body, 'archived') === true || flagAt(flagsOf(body), 'push') === false) fixed.push(name);
  }
  const all = `${repositories.length} ${repositories.length === 1 ? 'repository' : 'repositories'}`;
  if (unseen.length + moved.length + fixed.length === 0) return passedCheck(`The token sees all of the ${all}.`);
  const parts = [
    [unseen, 'The token does not see', SEE],
    [moved, 'Renamed or moved:', RENAME],
    [fixed, 'Nothing can be written, because they are archived or the token’s owner may not push, to', PUSH],
  ] as const;
  const found = parts.filter(([names]) => names.length > 0);
  const detail = found.map(([names, words]) => `${words} ${names.join(', ')}.`).join(' ');
  const finding = failedCheck(detail, found.map(([, , fix]) => fix).join(' '));
  return unseen.length + moved.length < repositories.length ? { ...finding, onlyWarns: true } : finding;
};

const SEE = 'Add these repositories to the token, or take them out of the config.';
const RENAME = 'Put their new names into the config.';
const PUSH = 'Let the token’s owner push there, or allow no tool that writes.';

const memberOf = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value[name] : undefined;
const flagsOf = (body: JsonValue | undefined): JsonValue | undefined => memberOf(body, 'permissions');
const flagAt = (value: JsonValue | undefined, name: string): boolean | null => {
  const flag = memberOf(value, name);
  return typeof flag === 'boolean' ? flag : null;
};

/** What the tools read, each with the permission that it needs. */
const LISTS = [
  ['issues', '/issues'],
  ['pull requests', '/pulls'],
  ['contents', '/branches'],
] as const;
const ONE: readonly Parameter[] = [['per_page', '1']];

/** Of the first repository that the token sees: its permissions are the same for all that it has. */
const permissionsFinding = async (read: Read, tested: TestedConnector): Promise<CheckFinding> => {
  const seen = await firstSeen(read, tested);
  if (seen === null) return NONE_SEEN;
  const refused: string[] = [];
  for (const [name, path] of LISTS) {
    const { outcome } = await read(tested, `/repos/${seen}${path}`, ONE);
    const { errorCode } = outcome;
    if (errorCode === 'upstream_auth_failed' || errorCode === 'upstream_not_found') refused.push(name);
    else if (errorCode !== null && errorCode !== 'upstream_error')
      return { ...unansweredFinding(outcome), onlyWarns: true };
  }
  if (refused.length === 0) {
    return passedCheck(
      'The token may read all that the tools read. What it may write, the host does not tell, and it cannot be tried without writing.',
    );
  }
  const detail = `The token may not read ${refused.join(', ')}: tools that do will be refused.`;
  const fix = 'Give the token these permissions at the code host, or allow no tool that needs them.';
  return { ...failedCheck(detail, fix), onlyWarns: true };
};

const firstSeen = async (read: Read, tested: TestedConnector): Promise<string | null> => {
  for (const name of codeHostConfigOf(tested.connector.config).repositories) {
    if ((await read(tested, `/repos/${name}`, [])).outcome.status === 'succeeded') return name;
  }
  return null;
};

const NONE_SEEN = skippedCheck('Skipped, because the check repositories failed.');

/** The branch that others build on is not always called main. */
const protectionFinding = async (read: Read, tested: TestedConnector): Promise<CheckFinding> => {
  if ((await firstSeen(read, tested)) === null) return NONE_SEEN;
  const config = codeHostConfigOf(tested.connector.config);
  const open: string[] = [];
  for (const name of config.repositories) {
    const { body, outcome } = await read(tested, `/repos/${name}`, []);
    if (outcome.status !== 'succeeded') continue;
    const branch = memberOf(body, 'default_branch');
    if (typeof branch !== 'string' || !isProtectedBranch(config, branch)) open.push(name);
  }
  if (open.length === 0) return passedCheck(PROTECTED);
  const detail = `Agents may write to the default branch of ${open.join(', ')}.`;
  return {
    ...failedCheck(detail, 'Put these branches into protected_branches, if agents should not.'),
    onlyWarns: true,
  };
};

const PROTECTED =
  'The default branch of each repository that the token sees is among protected_branches, so that no tool writes to it. How the host itself protects it was not looked at.';

const FINE_GRAINED = 'Store a fine-grained token (github_pat_) for the repositories of the config.';

const unansweredFinding = ({ errorCode, errorMessage }: CallOutcome): CheckFinding =>
  failedCheck(errorMessage ?? 'The code host did not answer.', FIXES[errorCode ?? ''] ?? 'Test again.');

const FIXES: Readonly<Record<string, string>> = {
  upstream_auth_failed: FINE_GRAINED,
  credentials_missing: FINE_GRAINED,
  upstream_not_found: 'Check base_url: it is the address of an Enterprise Server, without a path.',
  upstream_rate_limited: 'Test again later.',
};
