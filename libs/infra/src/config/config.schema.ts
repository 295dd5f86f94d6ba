import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { InvalidAllowEntry, parseAllowEntry } from '../egress/index.js';
import { InvalidFailpoints, parseFailpoints } from '../failpoints/index.js';
import { InvalidKurrentUrl, parseKurrentUrl } from './kurrent-url.js';
import { redisUrlFault } from './redis-url.js';
import { isInjectedAddress, unknownVariables } from './unknown-variables.js';

/** One setting: how it is read, and what `ags config` says about it. */
interface Setting<Value> {
  readonly variable: string;
  readonly description: string;
  /** As text, for the help; null when absent means a behaviour that `description` names. */
  readonly default: string | null;
  /** @throws {SettingProblem} */
  readonly parse: (text: string | undefined) => Value;
}

class SettingProblem extends Error {}

const problem = (message: string): never => {
  throw new SettingProblem(message);
};

const setting = <Value>(
  variable: string,
  fallback: string | null,
  description: string,
  read: (text: string) => Value,
  absent?: Value,
): Setting<Value> => ({
  variable,
  description,
  default: fallback,
  parse: (text) => {
    // An empty variable is how shells and compose files leave one unset.
    if (text !== undefined && text !== '') return read(text);
    return fallback === null ? (absent as Value) : read(fallback);
  },
});

const integer =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    const isWhole = /^\d{1,15}$/.test(text) && value >= min && value <= max;
    return isWhole ? value : problem(`must be a whole number from ${min} to ${max}`);
  };

const oneOf =
  <Choice extends string>(...choices: readonly Choice[]) =>
  (text: string): Choice =>
    choices.find((choice) => choice === text) ?? problem(`must be one of ${choices.join(', ')}`);

const httpUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : problem('must be an http or https URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') problem('must be an http or https URL');
  if (url.username || url.password || url.search || url.hash) problem('must have no user, query or fragment');
  return url.href.replace(/\/$/, '');
};

const postgresUrl = (text: string): string => {
  const isPostgres = URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol);
  return isPostgres ? text : problem('must be a postgres:// URL');
};

const redisUrl = (text: string): string => {
  const fault = redisUrlFault(text);
  return fault === null ? text : problem(fault);
};

const kurrentUrl = (text: string): string => {
  try {
    parseKurrentUrl(text);
    return text;
  } catch (error) {
    if (!(error instanceof InvalidKurrentUrl)) throw error;
    return problem(error.message);
  }
};

/** Where a listener of its own listens. */
export class ListenAddress {
  constructor(
    readonly host: string,
    readonly port: number,
  ) {}

  /** As it is written in a setting: an IPv6 address stands in brackets. */
  toString(): string {
    return `${this.host.includes(':') ? `[${this.host}]` : this.host}:${this.port}`;
  }
}

const listenAddress = (text: string): ListenAddress => {
  const [, bracketed, plain, port] = /^(?:\[([^\]\s]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined || Number(port) > 65_535
    ? problem('must be host:port, such as 127.0.0.1:9464')
    : new ListenAddress(host, Number(port));
};

const path = (text: string): string => (isAbsolute(text) ? text : resolve(text));

const list = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Hosts and ranges, each judged as the egress door will read it. */
const allowEntries = (text: string): readonly string[] => {
  for (const entry of list(text)) {
    try {
      parseAllowEntry(entry);
    } catch (error) {
      if (!(error instanceof InvalidAllowEntry)) throw error;
      problem(`must list hosts and ranges; ${error.message}`);
    }
  }
  return list(text);
};

/** As text: what it orders counts its hits from when it is armed. */
const failpointOrders = (text: string): string => {
  try {
    parseFailpoints(text);
    return text;
  } catch (error) {
    if (!(error instanceof InvalidFailpoints)) throw error;
    return problem(`must list faults to cause; ${error.message}`);
  }
};

const networks = (text: string): readonly string[] => {
  const wrong = list(text).find((entry) => !isNetwork(entry));
  return wrong === undefined ? list(text) : problem(`must list addresses or CIDR ranges; "${wrong}" is neither`);
};

const isNetwork = (text: string): boolean => {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
};

/** Every setting there is, in the order of the help. */
const SETTINGS = {
  env: setting(
    'SERVICE_ENV',
    'dev',
    'dev or production. Production refuses a base URL that is not https, and private upstream addresses.',
    oneOf('dev', 'production'),
  ),
  host: setting('SERVICE_HOST', '127.0.0.1', 'Address the API listens on.', (text) => text),
  port: setting(
    'SERVICE_PORT',
    '8080',
    'Port the API listens on; 0 takes any free one, which is printed.',
    integer(0, 65_535),
  ),
  baseUrl: setting<string | null>(
    'SERVICE_BASE_URL',
    null,
    'Address clients use, as in links. Absent: http://<host>:<port>.',
    httpUrl,
    null,
  ),
  docsUrl: setting<string | null>(
    'SERVICE_DOCS_URL',
    null,
    'Where doc_url of an error points: below it, /errors/<code>. Absent: pages of the service itself, <base URL>/docs.',
    httpUrl,
    null,
  ),
  stateDir: setting(
    'SERVICE_STATE_DIR',
    './.service',
    'Keys and, without DATABASE_URL, the database. Mode 0700; 0711 as root.',
    path,
  ),
  databaseUrl: setting<string | null>(
    'DATABASE_URL',
    null,
    'PostgreSQL 15 or newer, postgres://... Absent: an embedded one in the state directory.',
    postgresUrl,
    null,
  ),
  eventStoreUrl: setting<string | null>(
    'EVENT_STORE_URL',
    null,
    'KurrentDB or EventStoreDB 23.10 or newer, esdb://user:password@host:2113,...: holds the log. Absent: PostgreSQL does.',
    kurrentUrl,
    null,
  ),
  redisUrl: setting<string | null>(
    'REDIS_URL',
    null,
    'Redis 6.2 or newer, redis://... or rediss://...: wakes the processes of a deployment. Absent: each wakes only itself, and sweeps find the rest.',
    redisUrl,
    null,
  ),
  vaultKeyFile: setting<string | null>(
    'SERVICE_VAULT_KEY_FILE',
    null,
    'File of 32 bytes that opens credentials. Absent: keys/vault.key in the state directory.',
    path,
    null,
  ),
  pepperFile: setting<string | null>(
    'SERVICE_PEPPER_FILE',
    null,
    'File of 32 bytes that API keys are hashed under. Absent: keys/pepper.key in the state directory.',
    path,
    null,
  ),
  egressAllow: setting<readonly string[]>(
    'SERVICE_EGRESS_ALLOW',
    null,
    'Private addresses that connectors may reach, comma separated hosts or CIDR ranges. In dev all private addresses are allowed.',
    allowEntries,
    [],
  ),
  trustedProxies: setting<readonly string[]>(
    'SERVICE_TRUSTED_PROXIES',
    null,
    'Proxies in front of the service, comma separated addresses or CIDR ranges. The client is then the last address of X-Forwarded-For that is not among them.',
    networks,
    [],
  ),
  metricsAddress: setting<ListenAddress | null>(
    'SERVICE_METRICS_ADDRESS',
    null,
    'host:port that serves GET /metrics and GET /ready, without authentication: keep it on localhost or a private network. Port 0 takes any free one, which is logged. Absent: no metrics.',
    listenAddress,
    null,
  ),
  logLevel: setting('LOG_LEVEL', 'info', 'debug, info, warn or error.', oneOf('debug', 'info', 'warn', 'error')),
  sweepIntervalMs: setting(
    'SERVICE_SWEEP_INTERVAL_MS',
    '5000',
    'How often sweepers look for what a crash left behind.',
    integer(50, 60_000),
  ),
  executorSilenceMs: setting(
    'SERVICE_EXECUTOR_SILENCE_MS',
    '5000',
    'How long an executor may be silent before its execution is taken over; the same in every process.',
    integer(200, 60_000),
  ),
  drainDelayMs: setting(
    'SERVICE_DRAIN_DELAY_MS',
    '0',
    'How long a stopping api serves on while its health says draining, before it refuses: as long as a load balancer takes to notice.',
    integer(0, 600_000),
  ),
  drainTimeoutMs: setting(
    'SERVICE_DRAIN_TIMEOUT_MS',
    '10000',
    'How long a stopping process waits for work in flight.',
    integer(0, 600_000),
  ),
  failpoints: setting<string | null>(
    'SERVICE_FAILPOINTS',
    null,
    'For tests of crashes, refused in production: faults to cause, such as exec.sent=kill@3,seal.ack=error; none arms nothing yet (docs/failpoints.md). Absent: there are no failpoints.',
    failpointOrders,
    null,
  ),
} as const;

type Parsed = {
  readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name] extends Setting<infer Value> ? Value : never;
};

export type Config = Parsed;

export interface SettingHelp {
  readonly variable: string;
  readonly default: string | null;
  readonly description: string;
}

export const SETTINGS_HELP: readonly SettingHelp[] = Object.values(SETTINGS).map(
  ({ variable, default: fallback, description }) => ({ variable, default: fallback, description }),
);

const VARIABLES = SETTINGS_HELP.map(({ variable }) => variable);

/**
 * Variables that are named as settings are, mean none, and so change nothing, in alphabetic order. One that is close to a
 * setting's name is not among them: it is a problem.
 */
export const ignoredVariables = (environment: Environment = process.env): readonly string[] =>
  unknownVariables(environment, VARIABLES)
    .filter(({ meant }) => meant === null)
    .map(({ variable }) => variable);

/** Every problem at once, each with its variable and what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly problems: readonly string[]) {
    super(
      `The settings are not usable:\n${problems.map((line) => `  ${line}`).join('\n')}\nRun \`npm run ags -- config\` to see every setting.`,
    );
  }
}

/**
 * The settings of this process, read once.
 * @throws {ConfigError}
 */
export const parseConfig = (environment: Environment = process.env): Config => {
  const { config, problems } = read(environment);
  if (problems.length > 0) throw new ConfigError(problems.map(textOf));
  return config;
};

/** All that is wrong with the settings, as {@link parseConfig} would throw it; none when they are usable. */
export const problemsOfSettings = (environment: Environment = process.env): readonly string[] =>
  read(environment).problems.map(textOf);

/** A setting as it stands. `value` is what takes effect: the variable's, else the default; null when neither gives one. */
export interface SettingReport extends SettingHelp {
  /** May hold a password (DATABASE_URL): never print it as it is. */
  readonly value: Config[keyof Config] | undefined;
  readonly isSet: boolean;
  readonly problem: string | null;
}

/** Every setting with its value and what is wrong with it: never throws. The value of a wrong one is the variable's text. */
export const inspectSettings = (environment: Environment = process.env): readonly SettingReport[] => {
  const { config, problems } = read(environment);
  return Object.entries(SETTINGS).map(([name, { variable, default: fallback, description }]) => {
    const text = environment[variable];
    const problem = problems.find((found) => found.variable === variable)?.message ?? null;
    const value = problem === null ? config[name as keyof Config] : text;
    return { variable, default: fallback, description, value, isSet: text !== undefined && text !== '', problem };
  });
};

/** The environment of this process without any of our settings but those given: for a program that gets its own. */
export const environmentWith = (
  settings: Readonly<Record<string, string>>,
  environment: Environment = process.env,
): Record<string, string> => {
  const ours = new Set(VARIABLES);
  const others = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !ours.has(entry[0]),
  );
  return { ...Object.fromEntries(others), ...settings };
};

type Environment = Readonly<Record<string, string | undefined>>;

interface VariableProblem {
  readonly variable: string;
  readonly message: string;
}

const textOf = ({ variable, message }: VariableProblem): string => `${variable} ${message}`;

const read = (environment: Environment): { config: Config; problems: readonly VariableProblem[] } => {
  const problems: VariableProblem[] = [];
  const values = Object.entries(SETTINGS).map(([name, { variable, parse }]) => {
    try {
      return [name, parse(environment[variable])] as const;
    } catch (error) {
      if (!(error instanceof SettingProblem)) throw error;
      problems.push({ variable, message: `${error.message}${originOf(variable, environment[variable])}` });
      return [name, undefined] as const;
    }
  });
  const config = Object.freeze(Object.fromEntries(values)) as Config;
  if (config.env === 'production' && config.baseUrl !== undefined && !config.baseUrl?.startsWith('https://')) {
    problems.push({ variable: 'SERVICE_BASE_URL', message: 'must be an https URL in production' });
  }
  if (config.env === 'production' && config.failpoints) {
    problems.push({ variable: 'SERVICE_FAILPOINTS', message: 'must be unset in production' });
  }
  for (const { variable, meant } of unknownVariables(environment, VARIABLES)) {
    if (meant !== null) problems.push({ variable, message: `is not a setting; did you mean ${meant}?` });
  }
  return { config, problems };
};

const originOf = (variable: string, text = ''): string =>
  isInjectedAddress(variable, text)
    ? `; this is the address that Kubernetes injects for a Service named "service": set ${variable} in the container, or enableServiceLinks: false in the pod`
    : '';
