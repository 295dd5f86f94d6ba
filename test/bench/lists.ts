import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { testId, testTime } from '../support/given-log.js';
import type { BenchService } from './bench-service.js';
import { against, print, say } from './figure.js';
import { quantile } from './pace.js';

const FEW = 10_000;
const MANY = 1_000_000;
/** Before the first sample: a service that has just started answers the slowest of its first thousand pages twice as slowly. */
const WARM_UP_ROUNDS = 120;
const ROUNDS = 120;

/** A page of each: what a Console and scripts ask for. */
const QUERIES: readonly string[] = [
  '',
  'limit=100',
  `agent=${testId('agt', 7)}`,
  'tool=crm.tool_17',
  'tool=crm.*',
  'state=sealed',
  'state=executing',
  'decision=allow',
  'verdict=VERIFIED',
  `created_at[gte]=${testTime(100)}&created_at[lt]=${testTime(5_000)}`,
  'q=upstream',
  'q=tool_3',
  // What nothing has.
  'decision=deny',
  'verdict=MISMATCH',
  'level=L2',
  'tool=*refund*',
  'q=refund',
];

/** The slowest pages of the list of actions with a million rows, in units of the same with ten thousand. */
export const listSpeed = async (service: BenchService): Promise<void> => {
  const server = await service.database();
  const grow = (from: number, to: number): Promise<void> =>
    givenRows(server.connectionString('service'), service.org, String(from), String(to));
  try {
    await grow(0, FEW);
    const few = await slowest(service);
    await grow(FEW, MANY);
    const many = await slowest(service);
    print(against('list_p99', [many, few], 'ms'), service.profile);
  } finally {
    await server.release();
  }
};

const PROGRAM = fileURLToPath(new URL('given-rows.child.js', import.meta.url));

/** See the program itself. */
export const givenRows = async (...args: readonly string[]): Promise<void> => {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`making rows ended with ${code ?? 'a signal'}`);
};

const slowest = async (service: BenchService): Promise<number> => {
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) for (const query of QUERIES) await page(service, query);
  const all: number[] = [];
  const byQuery = new Map<string, number[]>(QUERIES.map((query) => [query, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [query, samples] of byQuery) {
      const tookMs = await page(service, query);
      all.push(tookMs);
      samples.push(tookMs);
    }
  }
  for (const [query, samples] of byQuery) {
    const [median, slow] = [quantile(samples, 0.5), quantile(samples, 0.99)];
    say(`  ${median.toFixed(1)} ms, p99 ${slow.toFixed(1)} ms  ${query === '' ? '(all)' : query}`);
  }
  return quantile(all, 0.99);
};

/** @returns milliseconds that one page took, as its caller sees it */
const page = async (service: BenchService, query: string): Promise<number> => {
  const begun = performance.now();
  const answer = await service.call('GET', `/v1/actions?${query}`, { key: service.adminKey });
  const tookMs = performance.now() - begun;
  if (answer.status !== 200) throw new Error(answer.text);
  return tookMs;
};
