import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import type { ChaosScene } from '../chaos-scene.js';
import { membersOf, textOf } from '../dossier.js';
import type { ClientAnswer, ClientCall } from '../evidence.js';
import type { FaultReport, FaultStage } from '../fault-stage.js';
import { effectOf } from '../oracle.js';

/** A suite of faults takes the fleet that its tests share; it is there when they run. */
export type StageOf = () => FaultStage;

/** `short`, as `npm run test:distributed` sets it; `whole`: for as long as the catalogue says. Unset: not at all. */
export const EXTENT = process.env['AGS_FAULTS'];
/** How long each lasts: as long as any lease, silence or deadline of the service that it could meet. */
const LASTS_MS = {
  frozen: 8_000,
  databaseDown: 8_000,
  redisDown: 6_000,
  redisSlow: 6_000,
  storeDown: 7_000,
  stuck: 5_000,
};
const LASTS_WHOLE_MS = {
  frozen: 40_000,
  databaseDown: 60_000,
  redisDown: 600_000,
  redisSlow: 30_000,
  storeDown: 60_000,
  stuck: 600_000,
};
export const lasts = EXTENT === 'whole' ? LASTS_WHOLE_MS : LASTS_MS;

export const LATENCY_MS = 500;
/** Longer than anybody waits for a connection to PostgreSQL. */
export const NOTICED_MS = 3_500;
/** A refusal waits ten seconds for its seal; before and after it a store may take its whole deadline, on a busy machine. */
const LONGEST_ANSWER_MS = 30_000;
export const DEADLINE_MS = 240_000 + 2 * Math.max(...Object.values(lasts));
export const PATIENCE = { timeout: 30_000, interval: 50 };

const isRefused = ({ answer }: ClientCall): boolean => answer !== null && answer.status >= 500;
const isHealth = ({ path }: ClientCall): boolean => path === '/v1/health';
const codeOf = ({ answer }: ClientCall): string =>
  answer === null ? 'no answer' : `${answer.status} ${textOf(membersOf(answer.json['error'])['code'])}`;

const nameOf = (call: ClientCall): string => `${call.method} ${call.path}: ${codeOf(call)}`;

/** What must hold of every fault; prints what was seen, for docs/failure-modes.md. */
export const expectHeld = (fault: string, { violations, met, recoveredMs }: FaultReport): void => {
  const [refused, lost] = [met.filter(isRefused), met.filter(({ answer }) => answer === null)];
  const longestMs = Math.max(...met.map(({ beganMs, endedMs }) => endedMs - beganMs));
  console.info(
    `${fault}: ${met.length} calls, ${refused.length} refused, ${lost.length} lost, the longest ${seconds(longestMs)}; ` +
      `well again after ${seconds(recoveredMs)}`,
  );
  expect(violations).toEqual([]);
  const others = refused.filter((call) => !isHealth(call) && codeOf(call) !== '503 service_unavailable');
  expect(others.map(nameOf)).toEqual([]);
};

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export const expectNoneRefused = ({ met }: FaultReport): void =>
  expect(met.filter((call) => isRefused(call) || call.answer === null).map(nameOf)).toEqual([]);

export const expectAnsweredInTime = ({ met }: FaultReport): void => {
  const late = met.filter(({ beganMs, endedMs }) => endedMs - beganMs > LONGEST_ANSWER_MS);
  expect(late.map(nameOf)).toEqual([]);
};

/** What was answered while a store was away. */
export interface AskedMeanwhile {
  readonly submissions: readonly (ClientAnswer | null)[];
  readonly healths: readonly (ClientAnswer | null)[];
  /** What reached the upstream of it. */
  readonly effects: readonly string[];
}

const ASKED_EACH = 4;
/** For as long an answer of before the fault may be given again (rule API-16). */
const HEALTH_CACHED_MS = 1_000;

/** @param fault letters that no other asks with */
export const askMeanwhile = async ({ log, agents, oracle }: ChaosScene, fault: string): Promise<AskedMeanwhile> => {
  const caller = agents[0] ?? null;
  const submissions = Array.from({ length: ASKED_EACH }, (_, index) => {
    const id = effectOf('ok', 0, `${fault}x${index}`);
    const body = { tool: 'crm.add_note', args: { id, text: 'meanwhile' }, wait: 1 };
    return log.call('POST', '/v1/actions', { caller, idempotencyKey: `key-${id}`, body });
  });
  const [answered] = await Promise.all([Promise.all(submissions), delay(HEALTH_CACHED_MS)]);
  const healths = await Promise.all(
    Array.from({ length: ASKED_EACH }, () => log.call('GET', '/v1/health', { caller: null })),
  );
  return {
    submissions: answered.map(({ answer }) => answer),
    healths: healths.map(({ answer }) => answer),
    effects: oracle.requests.map(({ effect }) => effect).filter((effect) => effect.includes(`${fault}x`)),
  };
};

/** Nothing is taken in, nothing is sent, and nobody is told that the call was wrong. */
export const expectNothingTaken = (asked: AskedMeanwhile | null): void => {
  if (asked === null) throw new Error('nobody asked');
  const { submissions, healths, effects } = asked;
  const refused = { status: 503, json: { error: { code: 'service_unavailable' } } };
  expect(submissions).toMatchObject(submissions.map(() => refused));
  for (const answer of submissions) expect(answer?.headers['retry-after']).toMatch(/^\d+$/);
  expect(healths).toMatchObject(healths.map(() => ({ status: 503, json: { status: 'down' } })));
  expect(effects).toEqual([]);
};

/** Over a connection past the proxy. */
export const withDatabase = async <Result>(
  { connectionString }: FaultStage,
  run: (client: pg.Client) => Promise<Result>,
  database?: string,
): Promise<Result> => {
  const address = new URL(connectionString);
  if (database !== undefined) address.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: address.href });
  await client.connect();
  return run(client).finally(() => client.end());
};
