import { describe, expect, it } from 'vitest';
import { type Append, type EventStore, RequirementMoved } from '#libs/domain/kernel';
import { firstOf, newEvents, newStream } from '../../support/new-event.js';
import { expectConflict, type LogUnderTest } from './log-under-test.js';

/** The contract for appends that require other streams to stand still; an adapter that cannot do so must say so. */
export const requiringAppendContract = (log: LogUnderTest): void => {
  describe('append that requires other streams to stand still', () => {
    /** The store; null if the adapter cannot require streams, in which case it must refuse such an append. */
    const able = async (): Promise<EventStore | null> => {
      if (log.store.canRequire) return log.store;
      const append = requiring(firstOf(newStream()), [newStream(), 0]);
      await expect(log.store.append(append)).rejects.toThrow('cannot require');
      return null;
    };
    const standing = async (count: number): Promise<string> => {
      const append = firstOf(newStream(), count);
      await log.store.append(append);
      return append.stream;
    };
    const expectRefused = async (append: Append): Promise<void> => {
      await expect(log.store.append(append)).rejects.toBeInstanceOf(RequirementMoved);
      expect(await log.store.readStream(append.stream)).toEqual([]);
    };

    it('is written if they do', async () => {
      const store = await able();
      const append = requiring(firstOf(newStream(), 2), [await standing(1), 0], [await standing(3), 2]);
      if (store === null) return;
      expect(await store.append(append)).toMatchObject({ revision: 1 });
      expect(await store.readStream(append.stream)).toHaveLength(2);
    });

    it('is refused if one of them has moved on, is behind, or does not exist', async () => {
      if ((await able()) === null) return;
      const [still, moved] = [await standing(1), await standing(2)];
      await expectRefused(requiring(firstOf(newStream()), [still, 0], [moved, 0]));
      await expectRefused(requiring(firstOf(newStream()), [moved, 2]));
      await expectRefused(requiring(firstOf(newStream()), [newStream(), 0]));
    });

    it('does not affect other appends of the same call when it is refused', async () => {
      const store = await able();
      if (store === null) return;
      const [moved, still] = [await standing(2), await standing(1)];
      const [first, refused, last] = [
        requiring(firstOf(newStream()), [still, 0]),
        requiring(firstOf(newStream()), [moved, 0], [still, 0]),
        firstOf(newStream()),
      ];
      const [ends] = await Promise.all([
        Promise.allSettled([first, refused, last].map((each) => store.append(each))),
        store.append(firstOf(newStream())),
      ]);
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await store.readStream(refused.stream)).toEqual([]);
    });

    it('gets the same answer when it is repeated, even if they have moved on since', async () => {
      const store = await able();
      if (store === null) return;
      const required = await standing(1);
      const append = requiring(firstOf(newStream()), [required, 0]);
      const result = await store.append(append);
      await store.append({ stream: required, expectedRevision: 0, events: newEvents(1) });
      expect(await store.append(append)).toEqual(result);
      const other = await log.harness.open();
      expect(await other.append(append)).toEqual(result);
    });

    it('reports a conflict of its own stream before a moved requirement', async () => {
      if ((await able()) === null) return;
      const [moved, own] = [await standing(2), await standing(1)];
      const append = requiring(firstOf(own), [moved, 0]);
      await expectConflict(log.store.append(append), { stream: own, expected: 'no_stream', actual: 0 });
    });

    it.each(['the same client', 'another one'])(
      'is never written behind an append that moves them, by %s',
      async (by) => {
        const store = await able();
        if (store === null) return;
        const other = by === 'the same client' ? store : await log.harness.open();
        for (let round = 0; round < 20; round += 1) {
          const required = await standing(1);
          const [before, after] = [firstOf(newStream()), firstOf(newStream())].map((each) =>
            requiring(each, [required, 0]),
          ) as [Append, Append];
          const move = { stream: required, expectedRevision: 0, events: newEvents(1) };
          const [one, moved, two] = await Promise.allSettled([
            store.append(before),
            other.append(move),
            store.append(after),
          ]);
          if (moved.status === 'rejected') throw moved.reason;
          for (const end of [one, two]) {
            if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(RequirementMoved);
            else expect(end.value.position).toBeLessThan(moved.value.position);
          }
          // An append that is sent after that answer is refused.
          await expectRefused(requiring(firstOf(newStream()), [required, 0]));
        }
      },
    );

    it('is refused as a defect if it requires its own stream, or something that is no revision', async () => {
      const store = await able();
      if (store === null) return;
      const own = firstOf(newStream());
      await expect(store.append(requiring(own, [own.stream, 0]))).rejects.toThrow(TypeError);
      await expect(store.append(requiring(firstOf(newStream()), [newStream(), -1]))).rejects.toThrow(TypeError);
      expect(await store.readStream(own.stream)).toEqual([]);
    });
  });
};

const requiring = (append: Append, ...requires: readonly (readonly [stream: string, revision: number])[]): Append => ({
  ...append,
  requires: new Map(requires),
});
