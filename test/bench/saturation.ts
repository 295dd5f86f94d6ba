import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absolute, print, say } from './figure.js';
import { LeanClient, leanRequest } from './lean-client.js';
import { quantile } from './pace.js';
import type { RunningService } from '../support/service.js';

const CLIENTS = 64;
/** What the compiler needs to have seen most of the code often enough. */
const WARM_UP_MS = 20_000;
const GOAL_PER_SECOND = 1_000;
/** Of Linux, for user space: sysconf(_SC_CLK_TCK). */
const TICK_MS = 10;

/**
 * Sealed actions a second with so many clients, each sending its next call when the last one has ended; generator, upstream,
 * service and database share the machine. Beside the figure, on standard error: how long a call took, and the processor time
 * of an action by process.
 *
 * @param upstreamUrl of the connector `crm` (bench-crm.ts)
 */
export const saturation = async (service: RunningService, seconds: number): Promise<void> => {
  const body = JSON.stringify({ tool: 'crm.add_note', args: { id: '42', text: 'bench' } });
  const request = leanRequest('POST', '/v1/actions', { Authorization: `Bearer ${service.agentKey}` }, body);
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, () => LeanClient.connect(new URL(service.baseUrl))),
  );
  const tookMs: number[] = [];
  let isOver = false;
  const run = async (client: LeanClient): Promise<void> => {
    while (!isOver) {
      const begun = performance.now();
      const answer = await client.send(request);
      if (!answer.body.includes('"state":"sealed"')) throw new Error(`an action did not end sealed: ${answer.body}`);
      tookMs.push(performance.now() - begun);
    }
  };
  say(`${CLIENTS} clients: warming up for ${WARM_UP_MS / 1000} s, then ${seconds} s ...`);
  const running = Promise.all(clients.map(run));
  await Promise.race([running, new Promise((resolve) => setTimeout(resolve, WARM_UP_MS))]);
  tookMs.length = 0;
  const before = await processorTimes(service);
  const begun = performance.now();
  await Promise.race([running, new Promise((resolve) => setTimeout(resolve, seconds * 1000))]);
  const elapsedMs = performance.now() - begun;
  const after = await processorTimes(service);
  const sealed = tookMs.length;
  isOver = true;
  await running;
  for (const client of clients) client.close();
  const perAction = (name: keyof ProcessorTimes): string => ((after[name] - before[name]) / sealed).toFixed(2);
  say(
    `a call took ${quantile(tookMs, 0.5).toFixed(0)} ms (p50), ${quantile(tookMs, 0.99).toFixed(0)} ms (p99); an action ` +
      `${perAction('serviceMs')} ms of the service, ${perAction('databaseMs')} ms of its database, ` +
      `${perAction('generatorMs')} ms of generator and upstream`,
  );
  print(absolute('sealed_per_second', (sealed * 1000) / elapsedMs, 'actions/s', 'at least', GOAL_PER_SECOND));
};

interface ProcessorTimes {
  readonly serviceMs: number;
  readonly databaseMs: number;
  readonly generatorMs: number;
}

/** Zero for the others where the system has no /proc. */
const processorTimes = async ({ pid, stateDir }: RunningService): Promise<ProcessorTimes> => {
  const { user, system } = process.cpuUsage();
  const postmaster = Number((await readFile(join(stateDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const all = await processes();
  const sum = (wanted: (each: ProcessTime) => boolean): number =>
    all.filter(wanted).reduce((total, { busyMs }) => total + busyMs, 0);
  return {
    serviceMs: sum((each) => each.pid === pid),
    databaseMs: sum((each) => each.pid === postmaster || each.parent === postmaster),
    generatorMs: (user + system) / 1000,
  };
};

interface ProcessTime {
  readonly pid: number;
  readonly parent: number;
  readonly busyMs: number;
}

const processes = async (): Promise<readonly ProcessTime[]> => {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    names.map(async (name) => {
      const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
      // The command's name stands in brackets and may hold anything.
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const busyMs = ((fields[11] ?? 0) + (fields[12] ?? 0)) * TICK_MS;
      return { pid: Number(name), parent: fields[1] ?? 0, busyMs };
    }),
  );
};
