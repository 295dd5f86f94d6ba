import pg from 'pg';
import { connectBenchCrm } from './bench-crm.js';
import type { BenchService } from './bench-service.js';
import { against, print, say } from './figure.js';
import { LeanClients, leanRequest } from './lean-client.js';
import { LeanUpstream } from './lean-upstream.js';
import { paced, quantile } from './pace.js';
import { saturation } from './saturation.js';

const PER_SECOND = 50;
const WARM_UP_SECONDS = 5;
/** Calls for so long, then commits alone for a third of it, and again: what drifts in a machine is in both. */
const ROUND_SECONDS = 5;

/**
 * Submit to sealed as the client sees it, minus the time the upstream took, in units of a single-row commit made at the same
 * pace in turns with it; then the same calls as fast as 64 clients can.
 */
export const gateOverhead = async (service: BenchService, seconds: number): Promise<void> => {
  const upstreamMs = new Map<string, number>();
  const upstream = await LeanUpstream.start();
  upstream.watch((head, tookMs) => {
    upstreamMs.set(String(/^service-action-id: *(\S+)/im.exec(head)?.[1]), tookMs);
  });
  await connectBenchCrm(service, upstream.baseUrl);
  const server = await service.database();
  // One commit does not wait for the one before it.
  const pool = new pg.Pool({ connectionString: server.connectionString('service') });
  await pool.query('create table if not exists public.bench_commits (id bigserial primary key, note text not null)');
  const body = JSON.stringify({ tool: 'crm.add_note', args: { id: '42', text: 'bench' } });
  const request = leanRequest('POST', '/v1/actions', { Authorization: `Bearer ${service.agentKey}` }, body);
  const clients = new LeanClients(new URL(service.baseUrl));
  const overheads: number[] = [];
  const submit = async (): Promise<void> => {
    const begun = performance.now();
    const answer = await clients.send(request);
    const tookMs = performance.now() - begun;
    const { id, state } = JSON.parse(answer.body) as { id?: string; state?: string };
    if (state !== 'sealed') throw new Error(`an action did not end sealed: ${answer.body}`);
    const upstreamTookMs = upstreamMs.get(String(id));
    if (upstreamTookMs === undefined) throw new Error(`the upstream was not asked: ${answer.body}`);
    upstreamMs.delete(String(id));
    overheads.push(tookMs - upstreamTookMs);
  };
  const commits: number[] = [];
  const commit = async (): Promise<void> => {
    const begun = performance.now();
    await pool.query(`insert into public.bench_commits (note) values ('x')`);
    commits.push(performance.now() - begun);
  };
  say(`warming up, then ${PER_SECOND} actions/s for ${seconds} s, in turns with commits ...`);
  await paced(PER_SECOND, WARM_UP_SECONDS, submit);
  overheads.length = 0;
  for (let left = seconds; left > 0; left -= ROUND_SECONDS) {
    const round = Math.min(left, ROUND_SECONDS);
    await paced(PER_SECOND, round, submit);
    await paced(PER_SECOND, round / 3, commit);
  }
  clients.close();
  upstream.watch(null);
  await pool.query('drop table public.bench_commits');
  await pool.end();
  await server.release();
  const limit = quantile(commits, 0.5);
  const of = (share: number) => [quantile(overheads, share), limit] as const;
  print(against('gate_overhead_p50', of(0.5), 'ms'), service.profile);
  print(against('gate_overhead_p99', of(0.99), 'ms'), service.profile);
  await saturation(service, seconds);
  await upstream.close();
};
