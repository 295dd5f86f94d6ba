import {
  allowEntries,
  failpointOrders,
  httpUrl,
  integer,
  kurrentUrl,
  type ListenAddress,
  listenAddress,
  mailSender,
  networks,
  oneOf,
  origins,
  path,
  postgresUrl,
  redisUrl,
  type Setting,
  setting,
  SettingProblem,
  smtpUrl,
} from './setting-readers.js';
import { isInjectedAddress, unknownVariables } from './unknown-variables.js';

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
    'Where docs/ is published: doc_url of an error points to /errors/<code> below it, help in the Console to /<page>. Absent: error pages of the service itself, <base URL>/docs.',
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
  demo: setting(
    'SERVICE_DEMO',
    'on',
    'on or off. Without DATABASE_URL and in dev, npm start and init bring a second PostgreSQL with an invented shop that agents may try themselves on (demo/ in the state directory).',
    oneOf('on', 'off'),
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
  smtpUrl: setting<string | null>(
    'SMTP_URL',
    null,
    'Mail server, smtp://user:password@host:587 or smtps://...: takes sign-in links and invitations. Beyond this machine it must offer STARTTLS, unless ?tls=optional allows mail in the clear. Absent: no mail is sent.',
    smtpUrl,
    null,
  ),
  mailFrom: setting<string | null>(
    'SERVICE_MAIL_FROM',
    null,
    'Who mails are from: ags@example.com, or Some Name <ags@example.com>. Must be set where SMTP_URL is.',
    mailSender,
    null,
  ),
  signUp: setting(
    'SERVICE_SIGN_UP',
    'invite',
    'invite or closed. By invitation of a member, or by nobody: closed refuses new invitations and those that are pending.',
    oneOf('invite', 'closed'),
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
    'What connectors may reach beside public addresses at port 443: comma separated hosts, host:port or CIDR ranges. In dev all private addresses and ports are open.',
    allowEntries,
    [],
  ),
  mcpOrigins: setting<readonly string[]>(
    'SERVICE_MCP_ORIGINS',
    null,
    'Web origins beside its own whose pages may call /mcp, comma separated: https://inspector.example. A request without the header Origin comes from no page and needs none.',
    origins,
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
  edgeResultTimeoutMs: setting(
    'SERVICE_EDGE_RESULT_TIMEOUT_MS',
    '600000',
    'How long an agent has to report the result of a call that it runs itself (mode proxy); then its outcome is unknown.',
    integer(1_000, 86_400_000),
  ),
  waitingPerAgentMax: setting(
    'SERVICE_APPROVALS_WAITING_MAX',
    '100',
    'How many calls of one agent may wait for people at once; one more is refused until some are decided.',
    integer(1, 10_000),
  ),
  webhookTimeoutMs: setting(
    'SERVICE_WEBHOOK_TIMEOUT_MS',
    '10000',
    'How long a webhook delivery may take, from the look-up of the name to the end of the answer.',
    integer(100, 60_000),
  ),
  webhookMaxAttempts: setting(
    'SERVICE_WEBHOOK_MAX_ATTEMPTS',
    '8',
    'How often a webhook delivery is tried before it is dead.',
    integer(1, 9),
  ),
  webhookDisableAfterMs: setting(
    'SERVICE_WEBHOOK_DISABLE_AFTER_MS',
    '259200000',
    'How long every delivery to a webhook endpoint may fail before the endpoint is disabled.',
    integer(60_000, 2_592_000_000),
  ),
  webhookMaxEndpoints: setting(
    'SERVICE_WEBHOOK_MAX_ENDPOINTS',
    '16',
    'How many webhook endpoints an organization may have.',
    integer(1, 100),
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

/** The environment of this process, its settings among it, but for those given: for a program that does part of its work. */
export const ownEnvironmentBut = (
  settings: Readonly<Record<string, string>>,
  environment: Environment = process.env,
): Record<string, string> => {
  const own = Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(own), ...settings };
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
  if (config.smtpUrl && config.mailFrom === null) {
    problems.push({
      variable: 'SERVICE_MAIL_FROM',
      message: 'must be set where SMTP_URL is, to an address that its server may send from',
    });
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
