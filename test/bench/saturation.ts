import type { BenchService } from './bench-service.js';
import { against, print, say } from './figure.js';
import { LeanClient, leanRequest } from './lean-client.js';
import { opensslPerSecond } from './openssl.js';
import { quantile } from './pace.js';
import { busyMsOf } from './processes.js';

const CLIENTS = 64;
/** What the compiler needs to have seen most of the code often enough. */
const WARM_UP_MS = 20_000;

/**
 * Sealed actions a second with so many clients, each sending its next call when the last one has ended; generator, upstream,
 * service and database share the machine. In units of what OpenSSL verifies a second on one thread of it, before and after,
 * while the service is at rest: how quick the machine is decides both. Beside the figure, on standard error: how long a call took, and the processor time
 * of an action by process.
 *
 * @param upstreamUrl of the connector `crm` (bench-crm.ts)
 */
export const saturation = async (service: BenchService, seconds: number): Promise<void> => {
  const opensslBefore = opensslPerSecond();
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
      `${perAction('service')} ms of the service, ${perAction('database')} ms of its database, ` +
      `${perAction('stores')} ms of its other stores, ${perAction('generator')} ms of generator and upstream`,
  );
  const openssl = (opensslBefore + opensslPerSecond()) / 2;
  const perSecond = (sealed * 1000) / elapsedMs;
  print(against('sealed_per_second', [perSecond, openssl], 'actions/s'), service.profile);
};

type ProcessorTimes = Awaited<ReturnType<typeof processorTimes>>;

const processorTimes = async ({ processes }: BenchService) => {
  const { user, system } = process.cpuUsage();
  return { ...(await busyMsOf(processes)), generator: (user + system) / 1000 };
};
