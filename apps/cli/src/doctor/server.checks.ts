import type { Examination } from './examination.js';
import { ok, problem, skipped, warning, type Finding } from './finding.js';
import { isAnswer, Server, serverAddressOf, type ServerAnswer, type Silence } from './server.js';

const SEAL_KEYS_PATH = '/.well-known/service/keys.json';
const RESTART_HELP = 'Restart the service, so that both are of one version.';

export const checkServerHealth = async (examination: Examination, url: string | undefined): Promise<Finding> => {
  const address = url ?? serverAddressOf(examination.config);
  if (address === null) {
    if (await isNobodyConnected(examination)) return notRunning('No service of this deployment runs.');
    return skipped('The port is chosen at every start (SERVICE_PORT=0): name the address with --url to look at it.');
  }
  const server = new Server(address);
  const [said, listed, own] = await Promise.all([
    server.get('/v1/health'),
    server.get(SEAL_KEYS_PATH),
    examination.sealKeys(),
  ]);
  if (!isAnswer(said)) {
    if (said.kind === 'not_running') {
      if (url !== undefined) return notRunning(`The service does not answer: nothing listens at ${address}.`);
      if (await examination.isConnected('api', 'standalone')) return elsewhere(address);
      return notRunning(
        `The service does not answer: nothing listens at ${address}.`,
        ' One that listens elsewhere is looked at with --url.',
      );
    }
    if (said.kind === 'blocked_port') {
      return problem(
        `${address} was not asked: its port is one that browsers and other HTTP clients refuse.`,
        url === undefined
          ? 'Set SERVICE_PORT, or the port in SERVICE_BASE_URL, to another one, such as 8080.'
          : 'Name with --url the address that the clients of the service have.',
      );
    }
    const place = url === undefined ? 'SERVICE_HOST, SERVICE_PORT and SERVICE_BASE_URL' : 'what --url names';
    return problem(
      `${address} cannot be reached (${said.said}).`,
      `Check ${place}, and what stands between here and the service.`,
    );
  }
  if (said.body['object'] !== 'health') {
    return problem(
      `What answers at ${address} is not this service.`,
      url === undefined
        ? 'Set SERVICE_PORT or SERVICE_BASE_URL to where the service listens, or name it with --url.'
        : 'Name with --url where the service listens, without a path; without --url the settings say where.',
    );
  }
  const whose = whoseIs(listed, own);
  if (whose === 'another') {
    return problem(
      `What answers at ${address} is another deployment: it has none of the seal keys that these settings lead to.`,
      `Give this program the settings that the service was started with (DATABASE_URL, SERVICE_STATE_DIR), or ` +
        `${url === undefined ? 'set SERVICE_PORT or SERVICE_BASE_URL to' : 'name with --url'} where this deployment listens.`,
    );
  }
  server.health = said;
  server.isOurs = whose === 'ours';
  examination.server = server;
  const health = judgeHealth(address, said);
  return whose === 'ours' || health.status !== 'ok' ? health : unknownService(address, whose, examination.apiKey);
};

const notRunning = (message: string, more = ''): Finding =>
  warning(message, `Start it: \`npm start\`, or the program that serves the API (\`npm run start:api\`).${more}`);

/** Also false where the database was not looked at. */
const isNobodyConnected = async (examination: Examination): Promise<boolean> =>
  (await examination.isOpened()) && !(await examination.isConnected('api', 'standalone'));

/** `ours`, `another`, or why it cannot be told. */
type Whose = 'ours' | 'another' | 'not_listed' | 'not_known_here';

/** Seal keys are registered for ever, so two deployments share none unless one is a copy of the other. */
const whoseIs = (said: ServerAnswer | Silence, own: ReadonlySet<string> | null): Whose => {
  if (own === null || own.size === 0) return 'not_known_here';
  if (!isAnswer(said) || said.status !== 200 || !Array.isArray(said.body['keys'])) return 'not_listed';
  const kids = (said.body['keys'] as readonly unknown[]).map((key) => (key as { kid?: unknown } | null)?.kid);
  return kids.some((kid) => typeof kid === 'string' && own.has(kid)) ? 'ours' : 'another';
};

const unknownService = (address: string, whose: Whose, apiKey: string | null): Finding => {
  const isNotListed = whose === 'not_listed';
  const why = isNotListed ? 'it does not list its seal keys' : 'the seal keys of this one could not be read';
  const shown = apiKey === null ? '' : ' It was shown no API key.';
  return warning(
    `A service at ${address} is well, and whether it is this deployment's is not known: ${why}.${shown}`,
    isNotListed
      ? `Let ${SEAL_KEYS_PATH} through to the service: everybody may read it.`
      : 'Put right what keeps the database or the event log from being read, and run this again.',
  );
};

const elsewhere = (address: string): Finding =>
  warning(
    `Nothing listens at ${address}, and an api of this deployment is connected to its database.`,
    'Name with --url where it listens: its log says so (`listening`), or what stands in front of it.',
  );

const judgeHealth = (address: string, { body }: ServerAnswer): Finding => {
  const checks = Object.entries((body['checks'] ?? {}) as Record<string, unknown>);
  const unwell = checks.filter(([, status]) => status !== 'ok').map(([name, status]) => `${name} ${String(status)}`);
  const status = String(body['status']);
  if (status === 'ok') return ok(`The service at ${address} is well.`);
  if (status === 'draining')
    return warning(`The service at ${address} is stopping.`, 'Wait for it, or start it again.');
  const message = `The service at ${address} is ${status}: ${unwell.join(', ')}.`;
  const next = 'Its log says why; docs/operations.md says what to do.';
  return status === 'degraded' ? warning(message, next) : problem(message, next);
};

const NO_SERVICE = 'No service answers to ask.';

export const checkVersionDrift = async ({ server }: Examination, ownVersion: string): Promise<Finding> => {
  if (server === null) return skipped(NO_SERVICE);
  const said = await server.get('/v1/version');
  const version = isAnswer(said) ? said.body['version'] : undefined;
  if (typeof version !== 'string') return problem('The service does not say its version.', RESTART_HELP);
  if (version === ownVersion) return ok(`The service and this program are of version ${version}.`);
  return warning(`The service is of version ${version}, and this program of ${ownVersion}.`, RESTART_HELP);
};

/** How far the clocks of service and machine may be apart (rule OPS-4). */
const WARNING_ABOVE_MS = 2_000;
const PROBLEM_ABOVE_MS = 30_000;
/** A Date header has no fractions. */
const DATE_RESOLUTION_MS = 1_000;

export const checkClockSkew = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  const askedAtMs = Date.now();
  const { rows } = await pool.query<{ ms: number }>(
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
  );
  const readings = [
    { of: 'the database', askedAtMs, answeredAtMs: Date.now(), fromMs: rows[0]?.ms ?? 0, toMs: rows[0]?.ms ?? 0 },
  ];
  const health = examination.server?.health;
  const dateMs = Date.parse(health?.date ?? '');
  if (health && !Number.isNaN(dateMs)) {
    readings.push({ ...health, of: 'the service', fromMs: dateMs, toMs: dateMs + DATE_RESOLUTION_MS });
  }
  return judgeSkew(readings);
};

/** A clock that was read between two moments of this machine's. It stood between `fromMs` and `toMs`. */
export interface ClockReading {
  readonly of: string;
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** How far two clocks are apart at least: what the way and a rounding explain is no skew. */
const skewMs = ({ askedAtMs, answeredAtMs, fromMs, toMs }: ClockReading): number =>
  Math.max(0, fromMs - answeredAtMs, askedAtMs - toMs);

export const judgeSkew = (readings: readonly ClockReading[]): Finding => {
  const [worst] = [...readings].sort((one, other) => skewMs(other) - skewMs(one));
  const apartMs = worst === undefined ? 0 : skewMs(worst);
  if (apartMs <= WARNING_ABOVE_MS) {
    return ok(`The clocks of this machine and of ${readings.map(({ of }) => of).join(' and of ')} agree.`);
  }
  const message = `The clock of ${worst?.of ?? ''} is ${(apartMs / 1_000).toFixed(1)} s from that of this machine.`;
  const next = 'Set both by NTP: signed intents and retirements of keys are judged by the clock.';
  return apartMs > PROBLEM_ABOVE_MS ? problem(message, next) : warning(message, next);
};
