import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { ChaosScene } from '../chaos-scene.js';
import type { Victim } from '../chaos-target.js';
import { effectOf } from '../oracle.js';
import { chanceOf } from '../random.js';
import { DEADLINE_MS, expectHeld, lasts, PATIENCE, withDatabase, type StageOf } from './expectations.js';

/** Its own processes; and all that it stands on, one after the other. */
export const processFaults = (stage: StageOf): void => {
  const first = (program: Victim['program']): Victim => ({ program, which: 0 });

  it(
    'F-01: one of each program is killed',
    async () => {
      const report = await stage().under(101, async ({ oracle }) => {
        await oracle.holdNextWrite();
        await Promise.all(
          (['worker', 'projector', 'api'] as const).map((program) => stage().fleet.kill('SIGKILL', first(program))),
        );
        oracle.holdNothing();
      });
      expectHeld('F-01', report);
    },
    DEADLINE_MS,
  );

  it(
    `F-02: one of each program stands still for ${lasts.frozen / 1_000} s, and wakes`,
    async () => {
      const victims = [first('worker'), first('projector'), first('api')];
      const report = await stage().under(102, async (scene) => {
        const slow = slowWrites(scene, 16);
        await vi.waitFor(() => expect(slow.arrived()).toBe(16), PATIENCE);
        for (const victim of victims) stage().fleet.signal('SIGSTOP', victim);
        await delay(lasts.frozen);
        for (const victim of victims) stage().fleet.signal('SIGCONT', victim);
        await slow.answered;
      });
      expectHeld('F-02', report);
      // What the frozen worker had sent was given up, and what it said when it woke changed nothing.
      expect(report.evidence.events.filter(({ type }) => type === 'LateReport')).not.toEqual([]);
    },
    DEADLINE_MS,
  );

  /** Each at the upstream for a while: whichever worker has it. */
  const slowWrites = ({ log, oracle, agents }: ChaosScene, count: number) => {
    const effects = Array.from({ length: count }, (_, index) => effectOf('ok', 6_000, `slow${index}`));
    const answered = Promise.all(
      effects.map((id) =>
        log.call('POST', '/v1/actions', {
          caller: agents[0]!,
          idempotencyKey: `key-${id}`,
          body: { tool: 'crm.add_note', args: { id, text: 'slow' }, wait: 5 },
        }),
      ),
    );
    return { answered, arrived: () => oracle.requests.filter(({ effect }) => effects.includes(effect)).length };
  };

  it(
    'F-26: five dependencies go one by one, and come back in another order',
    async () => {
      const chance = chanceOf(126);
      const report = await stage().under(126, async () => {
        const { database, eventStore, redis, to } = stage().on;
        const all = (program: Victim['program']): Victim => ({ program, which: 'all' });
        const parts: Readonly<Record<string, readonly [go: () => unknown, comeBack: () => unknown]>> = {
          database: [
            () => database.stop(),
            async () => {
              await database.start();
              stage().leadToDatabase(database);
            },
          ],
          eventStore: [() => eventStore.kill(), () => eventStore.start()],
          redis: [() => redis?.kill(), () => redis?.start()],
          upstream: [() => to.upstream.interrupt(), () => to.upstream.resume()],
          workers: [
            () => stage().fleet.signal('SIGSTOP', all('worker')),
            () => stage().fleet.signal('SIGCONT', all('worker')),
          ],
        };
        for (const which of [0, 1] as const) {
          const order = Object.values(parts).toSorted(() => chance.next() - 0.5);
          for (const part of order) {
            await part[which]();
            await delay(700);
          }
        }
      });
      expectHeld('F-26', report);
    },
    DEADLINE_MS,
  );

  it(
    'F-19: three of each program, of which one seals and one projects',
    async () => {
      const report = await stage().under(119, async () => {
        await stage().fleet.growTo(3);
        await vi.waitFor(async () => expect(await holders()).toEqual(ONE_OF_EACH), PATIENCE);
        for (const program of ['worker', 'projector'] as const) await stage().fleet.kill('SIGKILL', first(program));
        await delay(2_000);
      });
      expectHeld('F-19', report);
      await vi.waitFor(async () => expect(await holders()).toEqual(ONE_OF_EACH), PATIENCE);
    },
    DEADLINE_MS,
  );

  const ONE_OF_EACH = {
    'lease open-executions': 1,
    'lease projections': 1,
    'lease retention': 1,
    'lease sealer': 1,
    'lease webhooks': 1,
  };
  /** How many sessions hold each lease. */
  const holders = (): Promise<Readonly<Record<string, number>>> =>
    withDatabase(stage(), async (client) => {
      const { rows } = await client.query<{ lease: string; holders: number }>(
        `select application_name as lease, count(*)::int as holders from pg_locks join pg_stat_activity using (pid)
           where locktype = 'advisory' and granted and objsubid = 1 and application_name like 'lease %'
           group by application_name`,
      );
      return Object.fromEntries(rows.map(({ lease, holders: count }) => [lease, count]));
    });
};
