import { expect, it } from 'vitest';
import type { ApprovalPlaces, WantedPlace } from '#libs/domain/gate';
import { testId } from '../support/given-log.js';
import { contractOnRows, type RowsUnderTest } from './rows-under-test.js';

const LIMIT = 5;
const [AGENT, OTHER_AGENT] = [testId('agt', 1), testId('agt', 2)];

const place = (number: number, changes: Partial<WantedPlace> = {}): WantedPlace => ({
  agent: AGENT,
  action: testId('act', number),
  reservedMs: 1_000 + number,
  limit: LIMIT,
  ...changes,
});

/** The contract that every adapter of the port keeps (libs/domain/src/gate/approvals/approval-places.port.ts). */
export const approvalPlacesContract = (adapter: string, start: () => Promise<RowsUnderTest<ApprovalPlaces>>): void => {
  contractOnRows(`approval places contract: ${adapter}`, start, (places) => {
    const takeAll = async (): Promise<void> => {
      for (let number = 1; number <= LIMIT; number += 1) expect(await places.one.take(place(number))).toBe(true);
    };

    it('limits the places of each agent', async () => {
      await takeAll();
      expect(await places.other.take(place(LIMIT + 1))).toBe(false);
      expect(await places.other.take(place(LIMIT + 2, { agent: OTHER_AGENT }))).toBe(true);
      expect(await places.one.take(place(LIMIT + 1, { limit: LIMIT + 1 }))).toBe(true);
    });

    it('limits them also where many calls take one at once', async () => {
      const taken = await Promise.all(
        Array.from({ length: 40 }, (_, number) => {
          const port = number % 4 < 2 ? places.one : places.other;
          return port.take(place(number, { agent: number % 2 === 0 ? AGENT : OTHER_AGENT }));
        }),
      );
      expect(taken.filter(Boolean)).toHaveLength(2 * LIMIT);
      const held = [await places.one.heldBy(AGENT), await places.one.heldBy(OTHER_AGENT)];
      expect(held.map(({ length }) => length)).toEqual([LIMIT, LIMIT]);
    });

    it('names the places of an agent, oldest first', async () => {
      for (const number of [3, 1, 2]) await places.one.take(place(number));
      await places.one.take(place(4, { agent: OTHER_AGENT }));
      const inOrder = [1, 2, 3].map((number) => ({ action: testId('act', number), reservedMs: 1_000 + number }));
      expect(await places.other.heldBy(AGENT)).toEqual(inOrder);
      expect(await places.one.heldBy(testId('agt', 3))).toEqual([]);
    });

    it.each([
      ['as many', LIMIT],
      ['fewer than are taken', 1],
    ])('leaves a call the place that it holds where %s are allowed by now', async (_, limit) => {
      await takeAll();
      expect(await places.other.take(place(1, { reservedMs: 9_000, limit }))).toBe(true);
      const held = await places.one.heldBy(AGENT);
      expect(held.map(({ reservedMs }) => reservedMs)).toEqual([1_001, 1_002, 1_003, 1_004, 1_005]);
    });

    it('gives a place that was freed to another call', async () => {
      await takeAll();
      await places.other.free(AGENT, [place(3).action, place(99).action]);
      expect(await places.one.take(place(6))).toBe(true);
      expect(await places.one.take(place(7))).toBe(false);
    });

    it('frees nothing of another agent', async () => {
      await takeAll();
      await places.one.free(OTHER_AGENT, [place(1).action]);
      expect(await places.one.heldBy(AGENT)).toHaveLength(LIMIT);
    });
  });
};
