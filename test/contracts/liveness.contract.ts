import { expect, it } from 'vitest';
import type { Liveness } from '#libs/domain/gate';
import { contractOnRows, type RowsUnderTest } from './rows-under-test.js';

export interface LivenessRows extends RowsUnderTest<Liveness> {
  /** As if the last beat of that process had been so much earlier. */
  setBack(executor: string, byMs: number): Promise<void>;
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** The contract that every adapter of the port keeps (libs/domain/src/gate/execution/recovery.ports.ts). */
export const livenessContract = (adapter: string, start: () => Promise<LivenessRows>): void => {
  contractOnRows(`liveness contract: ${adapter}`, start, (liveness) => {
    const beat = async (...executors: readonly string[]): Promise<void> => {
      for (const executor of executors) await liveness.one.beat(executor);
    };

    it('has no row before a process has beaten', async () => {
      expect(await liveness.one.read()).toEqual(new Map());
    });

    it('counts the beats of each process, and shows them to every other', async () => {
      await beat('exe_1', 'exe_2', 'exe_1');
      expect([...(await liveness.other.read())].sort()).toEqual([
        ['exe_1', 2],
        ['exe_2', 1],
      ]);
    });

    it('counts each beat, also of many at once', async () => {
      await Promise.all(Array.from({ length: 20 }, () => liveness.one.beat('exe_1')));
      expect(await liveness.one.read()).toEqual(new Map([['exe_1', 20]]));
    });

    it('gives a reading that later beats do not change', async () => {
      await beat('exe_1');
      const reading = await liveness.one.read();
      await beat('exe_1', 'exe_2');
      expect(reading).toEqual(new Map([['exe_1', 1]]));
    });

    it('removes the row of a process, and of no other', async () => {
      await beat('exe_1', 'exe_2');
      await liveness.one.remove('exe_1');
      await liveness.one.remove('exe_1');
      expect(await liveness.one.read()).toEqual(new Map([['exe_2', 1]]));
    });

    it('says whether any process has beaten for as long as is asked', async () => {
      expect(await liveness.one.isAnyBeating(DAY_MS)).toBe(false);
      await beat('exe_quiet');
      await liveness.rows.setBack('exe_quiet', DAY_MS + HOUR_MS);
      expect(await liveness.one.isAnyBeating(DAY_MS)).toBe(false);
      expect(await liveness.one.isAnyBeating(DAY_MS + 2 * HOUR_MS)).toBe(true);
      await beat('exe_living');
      expect(await liveness.one.isAnyBeating(DAY_MS)).toBe(true);
      await liveness.one.remove('exe_living');
      expect(await liveness.one.isAnyBeating(DAY_MS)).toBe(false);
    });

    it('forgets processes that have not beaten for as long as is asked, and says how many', async () => {
      await beat('exe_dead', 'exe_quiet', 'exe_living');
      await liveness.rows.setBack('exe_dead', DAY_MS + HOUR_MS);
      await liveness.rows.setBack('exe_quiet', DAY_MS - HOUR_MS);
      await liveness.rows.setBack('exe_living', DAY_MS + HOUR_MS);
      await beat('exe_living');
      expect(await liveness.other.removeForgotten(DAY_MS)).toBe(1);
      expect(await liveness.other.removeForgotten(DAY_MS)).toBe(0);
      expect([...(await liveness.one.read()).keys()].sort()).toEqual(['exe_living', 'exe_quiet']);
    });

    it('begins anew with a process that beats on after it was forgotten', async () => {
      await beat('exe_1', 'exe_1');
      await liveness.rows.setBack('exe_1', DAY_MS + HOUR_MS);
      await liveness.one.removeForgotten(DAY_MS);
      await beat('exe_1');
      expect(await liveness.one.read()).toEqual(new Map([['exe_1', 1]]));
    });
  });
};
