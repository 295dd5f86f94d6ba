import { setTimeout as delay } from 'node:timers/promises';
import { it } from 'vitest';
import { startStandby } from '../../support/standby-server.js';
import { takeAllConnections } from '../../support/taken-connections.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import {
  DEADLINE_MS,
  expectAnsweredInTime,
  askMeanwhile,
  expectNothingTaken,
  type AskedMeanwhile,
  expectHeld,
  expectNoneRefused,
  lasts,
  LATENCY_MS,
  NOTICED_MS,
  withDatabase,
  type StageOf,
} from './expectations.js';

/** PostgreSQL goes away, is slow, or turns down. */
export const postgresFaults = (stage: StageOf): void => {
  it(
    'F-03: PostgreSQL ends without a farewell and starts again, three times',
    async () => {
      const report = await stage().under(103, async () => {
        for (let time = 0; time < 3; time += 1) {
          await stage().on.database.restart();
          await delay(500);
        }
      });
      expectHeld('F-03', report);
      expectAnsweredInTime(report);
    },
    DEADLINE_MS,
  );

  it(
    `F-04: PostgreSQL is away for ${lasts.databaseDown / 1_000} s`,
    async () => {
      let asked: AskedMeanwhile | null = null;
      const report = await stage().under(104, async (scene) => {
        const { database } = stage().on;
        await database.stop();
        [asked] = await Promise.all([askMeanwhile(scene, 'database'), delay(lasts.databaseDown)]);
        await database.start();
        stage().leadToDatabase(database);
      });
      expectHeld('F-04', report);
      expectNothingTaken(asked);
      expectAnsweredInTime(report);
    },
    DEADLINE_MS,
  );

  it(
    'F-05: others have taken every connection of PostgreSQL',
    async () => {
      let asked: AskedMeanwhile | null = null;
      const report = await stage().under(105, async (scene) => {
        const giveBack = await takeAllConnections(stage().connectionString);
        [asked] = await Promise.all([askMeanwhile(scene, 'connections'), delay(NOTICED_MS)]);
        await giveBack();
      });
      expectHeld('F-05', report);
      expectNothingTaken(asked);
      expectAnsweredInTime(report);
    },
    DEADLINE_MS,
  );

  it(
    'F-06: PostgreSQL is slow, its rows are locked, and it turns transactions down',
    async () => {
      const report = await stage().under(106, async () => {
        stage().on.to.database.slow(LATENCY_MS);
        await delay(NOTICED_MS);
        stage().on.to.database.slow(0);
        await withDatabase(stage(), async (side) => {
          await side.query('begin; lock table gate.payloads in access exclusive mode');
          await delay(2_000);
          await side.query('rollback');
        });
        await turningDown(() => delay(3_000));
      });
      expectHeld('F-06', report);
      expectAnsweredInTime(report);
    },
    DEADLINE_MS,
  );

  /** Some transactions end as where two lock each other out (40P01), or where one must be repeated (40001). */
  const turningDown = (whenDone: () => Promise<void>): Promise<void> =>
    withDatabase(stage(), async (side) => {
      const tables = ['gate.payloads', 'gate.open_executions', 'read_models.actions', 'read_models.deeds'];
      await side.query(`create function public.turn_down() returns trigger language plpgsql as $$ begin
        if random() < 0.2 then raise exception 'turned down' using errcode = (array['40001', '40P01'])[1 + (random() < 0.5)::int]; end if;
        return new; end $$`);
      for (const table of tables) {
        await side.query(
          `create trigger turn_down before insert or update on ${table} for each row execute function public.turn_down()`,
        );
      }
      await whenDone();
      await side.query('drop function public.turn_down() cascade');
    });

  it(
    `F-07: transactions are left open for ${lasts.stuck / 1_000} s, in the service's database and in another`,
    async () => {
      const report = await stage().under(107, () =>
        withDatabase(stage(), async (inOurs) => {
          await withDatabase(
            stage(),
            async (inAnother) => {
              for (const stuck of [inOurs, inAnother]) await stuck.query('begin; select txid_current()');
              await delay(lasts.stuck);
              // Whoever starts meanwhile waits for nobody.
              await stage().fleet.kill('SIGKILL', { program: 'projector', which: 0 });
              await stage().fleet.startMissing();
            },
            'postgres',
          );
        }),
      );
      expectHeld('F-07', report);
      expectNoneRefused(report);
    },
    DEADLINE_MS,
  );
};

/** From then on it is the standby that all stand on. */
export const failoverFaults = (stage: StageOf): void => {
  it(
    'F-08: a failover of PostgreSQL loses the last commits',
    async () => {
      const primary = stage().on.database;
      const replication = await startTcpProxy(primary.connectionString('postgres'));
      const standby = await startStandby(primary, replication);
      stage().afterClosing(() => Promise.all([standby.dispose(), replication.close()]));
      const report = await stage().under(
        108,
        async () => {
          await standby.caughtUp();
          replication.interrupt();
          await delay(2_000);
          await primary.stop();
          await standby.promote();
          stage().leadToDatabase(standby);
        },
        { isRebuilt: true },
      );
      expectHeld('F-08', report);
    },
    DEADLINE_MS,
  );
};
