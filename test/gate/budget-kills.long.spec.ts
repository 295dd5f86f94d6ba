import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActionEvent } from '#libs/domain/gate';
import { LogReader } from '../chaos/log-reader.js';
import { Fleet } from '../support/fleet.js';
import type { FleetProcess } from '../support/fleet-process.js';
import { callAt, type Answer } from '../support/service.js';
import { STANDS, type Stores } from '../support/stores-of-a-fleet.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const DEADLINE_MS = 300_000;
const LIMIT = 150;
const CALLERS = 64;
const APIS = 3;
/**
 * The process that is killed in each round, while the callers wait for answers. There are more calls than the budget
 * allows.
 */
const ROUNDS = ['api', 'worker', 'api'] as const;
const CALLS = ROUNDS.length * CALLERS;
const SETTINGS = {
  SERVICE_ENV: 'dev',
  SERVICE_FAILPOINTS: 'none',
  SERVICE_SWEEP_INTERVAL_MS: '200',
  SERVICE_EXECUTOR_SILENCE_MS: '400',
};

const POLICY = `version: 1
default: deny
rules:
  - id: checks
    match:
      tools:
        - crm.check
    decision: allow
budgets:
  - id: checks
    period: month
    max_calls: ${LIMIT}
`;
const CRM = {
  allowed_methods: ['POST'],
  allowed_path_prefixes: ['/v1'],
  tools: [{ name: 'check', method: 'POST', path: '/v1/checks', args: {} }],
};

for (const { stand, isThere, open } of STANDS) {
  describe.skipIf(!isThere)(`a budget, in four processes that are killed, on ${stand}`, () => {
    let stores: Stores;
    let fleet: Fleet;
    let upstream: Upstream;
    let client: pg.Client;
    const apis: FleetProcess[] = [];
    /** Writes the failpoints file in the shared state directory; a process reads it after SIGUSR2. */
    const order = (fault: string): Promise<void> =>
      writeFile(join(String(fleet.environment['SERVICE_STATE_DIR']), 'failpoints'), fault);

    const startApi = async (): Promise<void> => {
      await fleet.start('api', 1);
      apis.push(fleet.running('api').at(-1) as FleetProcess);
    };

    beforeAll(async () => {
      upstream = await startUpstream();
      stores = await open();
      fleet = await Fleet.prepare({ ...SETTINGS, ...stores.env });
      await fleet.start('worker', 1);
      for (let index = 0; index < APIS; index += 1) await startApi();
      const asAdmin = async (method: string, path: string, body: unknown): Promise<Answer['json']> => {
        const answer = await fleet.call(method, path, { key: fleet.adminKey, body });
        expect(answer.status, answer.text).toBeLessThan(300);
        return answer.json;
      };
      const config = { ...CRM, base_url: upstream.baseUrl };
      await asAdmin('POST', '/v1/connectors', { type: 'rest', name: 'crm', config });
      const policy = await asAdmin('POST', '/v1/policies', { name: 'Bounded', source: POLICY });
      await asAdmin('POST', `/v1/policies/${String(policy['id'])}/versions/1/activate`, { mode: 'enforce' });
      client = new pg.Client({ connectionString: fleet.connectionString });
      await client.connect();
    }, DEADLINE_MS);
    afterAll(async () => {
      await client?.end();
      await fleet?.stop();
      await upstream?.close();
      await stores?.close();
    }, DEADLINE_MS);

    /** Sends the call to one api after the other until one answers, with the action or the refusal. */
    const untilAnswered = async (number: number): Promise<number> => {
      const call = {
        key: fleet.agentKey,
        headers: { 'Idempotency-Key': `check ${number}` },
        body: { tool: 'crm.check', wait: 5 },
      };
      for (let turn = number; ; turn += 1) {
        const api = apis[turn % apis.length] as FleetProcess;
        const answer = await callAt(api.baseUrl, 'POST', '/v1/actions', call).catch(() => null);
        if (answer !== null && [200, 202, 429].includes(answer.status)) return answer.status;
      }
    };

    /** Kills an api right before an append, when the call's charge is reserved and nothing of it is in the log. */
    const killBeforeAppend = async (begin: () => Promise<unknown>): Promise<void> => {
      const [api] = apis as [FleetProcess];
      await order('gate.t1=kill');
      const saidBefore = api.stdout.length;
      api.signal('SIGUSR2');
      await expect.poll(() => api.stdout.slice(saidBefore), { timeout: 60_000 }).toContain('failpoints are armed');
      const answered = begin();
      expect(await api.ended).toMatchObject({ signal: 'SIGKILL' });
      await order('none');
      fleet.takeOut(api);
      apis.shift();
      await Promise.all([answered, startApi()]);
    };

    /** Kills the worker while it runs the calls. */
    const killWorker = async (begin: () => Promise<unknown>): Promise<void> => {
      const ran = upstream.seen.length;
      const answered = begin();
      await expect.poll(() => upstream.seen.length, { timeout: 60_000 }).toBeGreaterThan(ran);
      await fleet.end('worker', 'SIGKILL');
      await Promise.all([answered, fleet.start('worker', 1)]);
    };

    /** The decision and the number of charges of each call in the log. */
    const decisions = async (): Promise<readonly (readonly [outcome: string, charges: number])[]> => {
      const log = new LogReader({ connectionString: fleet.connectionString, eventStoreUrl: stores.eventStoreUrl });
      try {
        const events = (await log.events()).map(({ type, data }) => ({ type, data }) as ActionEvent);
        return events.flatMap((event) =>
          event.type === 'ActionDecided'
            ? [[event.data.decision.outcome, event.data.charges?.length ?? 0] as const]
            : [],
        );
      } finally {
        await log.close();
      }
    };

    const counted = async (): Promise<readonly [rows: number, confirmed: number, counter: number]> => {
      const { rows } = await client.query<{ all: string; confirmed: string; used: string }>(
        `select count(*) as all, count(*) filter (where is_confirmed) as confirmed,
              (select sum(used) from gate.budget_counters) as used
         from gate.budget_reservations`,
      );
      return [Number(rows[0]?.all), Number(rows[0]?.confirmed), Number(rows[0]?.used)];
    };

    const dump = async (): Promise<readonly unknown[]> =>
      (
        await client.query(
          `select action, budget, unit, period, amount, at_ms from gate.budget_reservations where is_confirmed order by 1, 2, 3`,
        )
      ).rows;

    it(
      'the limit is reached, and not passed',
      async () => {
        const statuses: number[] = [];
        const askAll = async (): Promise<void> => {
          const numbers = Array.from({ length: CALLERS }, (_, index) => statuses.length + index);
          statuses.push(...(await Promise.all(numbers.map(untilAnswered))));
        };
        for (const killed of ROUNDS) await (killed === 'api' ? killBeforeAppend(askAll) : killWorker(askAll));
        expect(statuses.filter((status) => status === 429)).toHaveLength(CALLS - LIMIT);
        // Only the budget refused calls, and every accepted call was charged.
        const decided = await decisions();
        expect(decided.filter(([outcome]) => outcome === 'allow')).toEqual(Array(LIMIT).fill(['allow', 1]));
        expect(decided.filter(([outcome]) => outcome !== 'allow')).toEqual(Array(CALLS - LIMIT).fill(['deny', 0]));
        await expect.poll(counted, { timeout: 30_000 }).toEqual([LIMIT, LIMIT, LIMIT]);
        expect(upstream.seen.length).toBeLessThanOrEqual(LIMIT);
      },
      DEADLINE_MS,
    );

    it(
      'rows that are lost are made anew by the next worker, and are the same',
      async () => {
        const before = await dump();
        await fleet.end('worker', 'SIGKILL');
        await client.query(`truncate gate.budget_reservations, gate.budget_counters`);
        await client.query(`delete from gate.checkpoint where name = 'budgets'`);
        // No worker folds the rows, so calls that the budget bounds get 503 meanwhile.
        const [api] = apis as [FleetProcess];
        const call = { key: fleet.agentKey, body: { tool: 'crm.check', wait: 0 } };
        expect(await callAt(api.baseUrl, 'POST', '/v1/actions', call)).toMatchObject({ status: 503 });
        await fleet.start('worker', 1);
        await expect.poll(dump, { timeout: 30_000 }).toEqual(before);
        const answer = await callAt(api.baseUrl, 'POST', '/v1/actions', call);
        expect(answer.status, answer.text).toBe(429);
      },
      DEADLINE_MS,
    );
  });
}
