import pg from 'pg';
import { BENCH_POLICY, connectBenchCrm } from './bench-crm.js';
import type { BenchService } from './bench-service.js';
import { benchAgent, callsInTurns, change } from './calls-in-turns.js';
import { against, print, say } from './figure.js';
import { LeanUpstream } from './lean-upstream.js';
import { signedCalls } from './signed-calls.js';

/** In commits. */
/** Never used up. */
const CALLS_PER_DAY = 1_000_000_000;

/** What a signed intent, a budget and a version in shadow add to a call. */
export const governedCalls = async (service: BenchService, seconds: number): Promise<void> => {
  const upstream = await LeanUpstream.start();
  await connectBenchCrm(service, upstream.baseUrl);
  await signedCalls(service, seconds);
  await budgetedCalls(service, seconds);
  await shadowedCalls(service, seconds);
  await upstream.close();
};

/** What a budget adds to a call, in units of a durable commit of one row on one connection, in turns with them. */
const budgetedCalls = async (service: BenchService, seconds: number): Promise<void> => {
  const agent = await benchAgent(service);
  const bound = (calls_per_day: number | null) =>
    change(service, 'PATCH', `/v1/agents/${agent}`, { budgets: { calls_per_day } });
  const server = await service.database();
  const pool = new pg.Pool({ connectionString: server.connectionString('service'), max: 1 });
  await pool.query('create table if not exists public.bench_commits (id bigserial primary key, note text not null)');
  say(`calls without a budget and with one in turns, for ${seconds} s each ...`);
  const { off, on, beside } = await callsInTurns(service, seconds, {
    turnOff: () => bound(null),
    turnOn: () => bound(CALLS_PER_DAY),
    beside: () => pool.query(`insert into public.bench_commits (note) values ('x')`),
  });
  await pool.query('drop table public.bench_commits');
  await pool.end();
  await server.release();
  say(`${off.toFixed(2)} ms without, ${on.toFixed(2)} ms with`);
  print(against('budget_adds_p50', [on - off, beside], 'ms'), service.profile);
};

/** A call while a version is in shadow, in units of one while none is. */
const shadowedCalls = async (service: BenchService, seconds: number): Promise<void> => {
  const { json } = await service.call('GET', '/v1/policies', { key: service.adminKey });
  const policy = `/v1/policies/${(json['data'] as { id: string }[])[0]?.id ?? ''}`;
  const source = BENCH_POLICY.replace('  - id: crm', '  - id: crm-in-shadow');
  const { version } = await change(service, 'POST', `${policy}/versions`, { source });
  let isOn = false;
  const turnOn = async () => {
    await change(service, 'POST', `${policy}/versions/${String(version)}/activate`, { mode: 'shadow' });
    isOn = true;
  };
  const turnOff = async () => {
    if (isOn) await change(service, 'POST', `${policy}/deactivate`, { mode: 'shadow' });
    isOn = false;
  };
  say(`calls without a version in shadow and with one in turns, for ${seconds} s each ...`);
  const { off, on } = await callsInTurns(service, seconds, { turnOff, turnOn });
  print(against('shadow_call_p50', [on, off], 'ms'), service.profile);
};
