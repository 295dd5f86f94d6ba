import { describe, expect, it } from 'vitest';
import { type Append, type AppendResult, RequirementMoved } from '#libs/domain/kernel';
import { firstOf, newEvents, newStream } from '../../support/new-event.js';
import type { CompoundUnderTest } from './compound-under-test.js';
import { expectConflict } from './log-under-test.js';

/** The contract for appends that require other streams to stand still, where the commit itself looks at them. */
export const requiringAppendContract = (log: CompoundUnderTest): void => {
  describe('append that requires other streams to stand still', () => {
    const standing = async (count: number): Promise<string> => {
      const append = firstOf(newStream(), count);
      await log.store.append(append);
      return append.stream;
    };
    const expectRefused = async (append: Append, ...required: readonly Required[]): Promise<void> => {
      await expect(requiring(log, append, ...required)).rejects.toBeInstanceOf(RequirementMoved);
      expect(await log.store.readStream(append.stream)).toEqual([]);
    };

    it('is refused if one of several has moved on', async () => {
      const [still, moved] = [await standing(1), await standing(2)];
      await expectRefused(firstOf(newStream()), [still, 0], [moved, 0]);
    });

    it('does not affect other appends of the same call when it is refused', async () => {
      const [moved, still] = [await standing(2), await standing(1)];
      const [first, refused, last] = [firstOf(newStream()), firstOf(newStream()), firstOf(newStream())];
      const [ends] = await Promise.all([
        Promise.allSettled([
          requiring(log, first, [still, 0]),
          requiring(log, refused, [moved, 0], [still, 0]),
          requiring(log, last),
        ]),
        log.store.append(firstOf(newStream())),
      ]);
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await log.store.readStream(refused.stream)).toEqual([]);
    });

    it('gets the same answer when it is repeated, even if they have moved on since', async () => {
      const required = await standing(1);
      const append = firstOf(newStream());
      const result = await requiring(log, append, [required, 0]);
      await log.store.append({ stream: required, expectedRevision: 0, events: newEvents(1) });
      expect(await requiring(log, append, [required, 0])).toEqual(result);
      const other = await log.harness.open();
      expect(await requiring(other, append, [required, 0])).toEqual(result);
    });

    it('reports a conflict of its own stream before a moved requirement', async () => {
      const [moved, own] = [await standing(2), await standing(1)];
      const append = requiring(log, firstOf(own), [moved, 0]);
      await expectConflict(append, { stream: own, expected: 'no_stream', actual: 0 });
    });

    it.each(['the same client', 'another one'])(
      'is never written behind an append that moves them, by %s',
      async (by) => {
        const other = by === 'the same client' ? log : await log.harness.open();
        for (let round = 0; round < 20; round += 1) {
          const required = await standing(1);
          const [before, after] = [firstOf(newStream()), firstOf(newStream())];
          const move = { stream: required, expectedRevision: 0, events: newEvents(1) };
          const [one, moved, two] = await Promise.allSettled([
            requiring(log, before, [required, 0]),
            other.store.append(move),
            requiring(log, after, [required, 0]),
          ]);
          if (moved.status === 'rejected') throw moved.reason;
          for (const end of [one, two]) {
            if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(RequirementMoved);
            else expect(end.value.position).toBeLessThan(moved.value.position);
          }
          // An append that is sent after that answer is refused.
          await expectRefused(firstOf(newStream()), [required, 0]);
        }
      },
    );

    it('is refused as a defect if it requires its own stream, or something that is no revision', async () => {
      const own = firstOf(newStream());
      await expect(requiring(log, own, [own.stream, 0])).rejects.toThrow(TypeError);
      await expect(requiring(log, firstOf(newStream()), [newStream(), -1])).rejects.toThrow(TypeError);
      expect(await log.store.readStream(own.stream)).toEqual([]);
    });
  });
};

type Required = readonly [stream: string, revision: number];

const requiring = (
  { appends }: Pick<CompoundUnderTest, 'appends'>,
  append: Append,
  ...required: readonly Required[]
): Promise<AppendResult> => appends.append(append, { requires: new Map(required) });
