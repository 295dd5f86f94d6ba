import { setTimeout as delay } from 'node:timers/promises';
import { it } from 'vitest';
import {
  DEADLINE_MS,
  expectAnsweredInTime,
  askMeanwhile,
  expectNothingTaken,
  type AskedMeanwhile,
  expectHeld,
  lasts,
  LATENCY_MS,
  type StageOf,
} from './expectations.js';

/** The event store goes away, stands still, is slow, or is not heard. */
export const eventStoreFaults = (stage: StageOf): void => {
  it(
    `F-10: the event store is killed, and away for ${lasts.storeDown / 1_000} s`,
    async () => {
      let asked: AskedMeanwhile | null = null;
      const report = await stage().under(110, async (scene) => {
        await stage().on.eventStore.kill();
        [asked] = await Promise.all([askMeanwhile(scene, 'killed'), delay(lasts.storeDown)]);
        await stage().on.eventStore.start();
      });
      expectHeld('F-10, killed', report);
      expectNothingTaken(asked);
      expectAnsweredInTime(report);
    },
    DEADLINE_MS,
  );

  it(
    `F-10: the event store stands still for ${lasts.storeDown / 1_000} s, and is slow when it wakes`,
    async () => {
      let asked: AskedMeanwhile | null = null;
      const report = await stage().under(120, async (scene) => {
        stage().on.eventStore.hang();
        [asked] = await Promise.all([askMeanwhile(scene, 'frozen'), delay(lasts.storeDown)]);
        stage().on.eventStore.resume();
        stage().on.to.eventStore.slow(LATENCY_MS);
        await delay(2_000);
        stage().on.to.eventStore.slow(0);
      });
      expectHeld('F-10, frozen', report);
      expectNothingTaken(asked);
      expectAnsweredInTime(report);
    },
    DEADLINE_MS,
  );

  it(
    'F-10: what the event store has acknowledged is not heard, again and again',
    async () => {
      const report = await stage().under(130, async () => {
        for (let time = 0; time < 20; time += 1) {
          await stage().on.to.eventStore.cutNextAnswer();
          await delay(100);
        }
      });
      expectHeld('F-10, unheard', report);
      expectAnsweredInTime(report);
    },
    DEADLINE_MS,
  );
};
