import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchService } from './bench-service.js';
import { LeanClient, leanRequest } from './lean-client.js';
import { quantile } from './pace.js';

/** Calls of one kind for so long, then of the other, and again: what drifts in a machine is in both. */
const ROUND_SECONDS = 2;
const BESIDE_SECONDS = 0.5;
/** What the compiler needs to have seen most of the code often enough. */
const WARM_UP_SECONDS = 10;

export const BENCH_TOOL = 'crm.add_note';
export const BENCH_ARGS = { id: '42', text: 'bench' };

/** Two kinds of the same call. */
export interface Kinds {
  /** Before a round of the plain kind, and at the end. */
  readonly turnOff: () => Promise<unknown>;
  /** Before a round of the other kind. */
  readonly turnOn: () => Promise<unknown>;
  /** Of a call of the other kind, made before the clock starts. */
  readonly headers?: () => Record<string, string>;
  /** What else is timed for half a second in each round, as often as there would be calls. */
  readonly beside?: () => Promise<unknown>;
}

/** Medians, in milliseconds. */
export interface InTurns {
  readonly off: number;
  readonly on: number;
  /** 0 where nothing was timed beside. */
  readonly beside: number;
}

/**
 * Submit to sealed of two kinds of calls, in turns. One caller sends its next call when the last has ended, so that no call
 * waits for another.
 *
 * @param service with the connector of bench-crm.ts, and its upstream there
 * @param seconds of each kind
 */
export const callsInTurns = async (service: BenchService, seconds: number, kinds: Kinds): Promise<InTurns> => {
  const { turnOff, turnOn, headers = () => ({}), beside } = kinds;
  const client = await LeanClient.connect(new URL(service.baseUrl));
  const body = JSON.stringify({ tool: BENCH_TOOL, args: BENCH_ARGS });
  const authorization = { Authorization: `Bearer ${service.agentKey}` };
  const call = async (own: Record<string, string>): Promise<number> => {
    const request = leanRequest('POST', '/v1/actions', { ...authorization, ...own }, body);
    const begun = performance.now();
    const answer = await client.send(request);
    const tookMs = performance.now() - begun;
    if (!answer.body.includes('"state":"sealed"')) throw new Error(`an action did not end sealed: ${answer.body}`);
    return tookMs;
  };
  const [off, on, others]: [number[], number[], number[]] = [[], [], []];
  // What follows at once finds everything awake; what comes as seldom as a call does is what a call would wait for.
  const atThePaceOfCalls = async (work: () => Promise<unknown>): Promise<void> => {
    await sleep(off.at(-1) ?? 0);
    others.push(await timed(work));
  };
  const round = async (length: number): Promise<void> => {
    await turnOff();
    await during(length, async () => void off.push(await call({})));
    await turnOn();
    await during(length, async () => void on.push(await call(headers())));
    if (beside) await during(BESIDE_SECONDS, () => atThePaceOfCalls(beside));
  };
  await round(WARM_UP_SECONDS);
  for (const samples of [off, on, others]) samples.length = 0;
  for (let left = seconds; left > 0; left -= ROUND_SECONDS) await round(Math.min(left, ROUND_SECONDS));
  await turnOff();
  client.close();
  const [medianOff, medianOn] = [quantile(off, 0.5), quantile(on, 0.5)];
  return { off: medianOff, on: medianOn, beside: others.length === 0 ? 0 : quantile(others, 0.5) };
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

const during = async (seconds: number, work: () => Promise<void>): Promise<void> => {
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) await work();
};

/** As an admin. */
export const change = async (
  service: BenchService,
  method: string,
  path: string,
  body: object,
): Promise<Readonly<Record<string, unknown>>> => {
  const answer = await service.call(method, path, { key: service.adminKey, body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.json;
};

/** Of the one agent that there is. */
export const benchAgent = async (service: BenchService): Promise<string> => {
  const { json } = await service.call('GET', '/v1/agents', { key: service.adminKey });
  return (json['data'] as { id: string }[])[0]?.id ?? '';
};
