import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  Accompany,
  Append,
  Companions,
  CompanionsEnd,
  CompoundAppends,
  DepartingAppends,
  RecordedEvent,
} from '#libs/domain/kernel';
import { firstOf, newEvent, newEvents, newStream } from '../../support/new-event.js';
import type { CompoundUnderTest } from './compound-under-test.js';
import { expectConflict } from './log-under-test.js';

/** Returns the companions that a test has set, once, and records how they ended. */
class Companion {
  next: Omit<Companions, 'ended'> | null = null;
  look: (departing: DepartingAppends) => void = () => undefined;
  asked = 0;
  readonly told: CompanionsEnd[] = [];
  readonly errors: unknown[] = [];
  readonly leave: () => void;

  constructor(appends: CompoundAppends) {
    const accompany: Accompany = (departing) => {
      this.asked += 1;
      this.look(departing);
      const companions = this.next;
      this.next = null;
      return companions && { ...companions, ended: (end) => this.told.push(end) };
    };
    this.leave = appends.accompany(accompany, (error) => this.errors.push(error));
  }
}

const NOTHING = new Map<string, number>();

/** The contract for companions, where one commit writes to several streams. */
export const accompaniedAppendContract = (log: CompoundUnderTest): void => {
  describe('append with companions', () => {
    let companion: Companion;
    beforeEach(() => {
      companion = new Companion(log.appends);
    });
    afterEach(() => companion.leave());

    /** Appends an event, so that the process knows where the log ends. */
    const seen = async (): Promise<Append> => {
      const append = firstOf(newStream());
      await log.store.append(append);
      companion.asked = 0;
      return append;
    };
    const lastEvents = async (count: number): Promise<readonly RecordedEvent[]> => {
      const head = await log.store.head();
      return log.store.readAll(head - BigInt(count), count);
    };

    it('writes companions right behind the append, in the same commit, and calls ended before it answers', async () => {
      const before = await seen();
      const [append, first, second] = [firstOf(newStream(), 2), firstOf(newStream(), 2), firstOf(newStream())];
      companion.next = { appends: [first, second], requires: new Map([[before.stream, 0]]) };
      const answered = log.store.append(append).then((result) => ({ result, told: [...companion.told] }));
      const { result, told } = await answered;
      expect(told).toEqual(['written']);
      expect(result.revision).toBe(1);
      const events = await lastEvents(5);
      expect(events.map(({ id }) => id)).toEqual(
        [append, first, second].flatMap((each) => each.events.map(({ id }) => id)),
      );
      expect(events[1]?.position).toBe(result.position);
      expect(await log.store.readStream(first.stream)).toHaveLength(2);
    });

    it('shows the departing events with their future places, and the known events before them', async () => {
      const before = await seen();
      await log.store.append({ stream: before.stream, expectedRevision: 0, events: newEvents(2) });
      const [earlier, ...since] = await log.store.readStream(before.stream);
      const append = firstOf(newStream(), 2);
      const shown: unknown[] = [];
      companion.look = ({ events, since: after, beginningOf }) => {
        shown.push(events, after((earlier as RecordedEvent).position));
        shown.push(beginningOf(before.stream, 3), beginningOf(before.stream, 4));
      };
      await log.store.append(append);
      expect(shown).toEqual([await log.store.readStream(append.stream), since, [earlier, ...since], null]);
    });

    it('leaves companions out if a stream that they require has moved on', async () => {
      const before = await seen();
      const [append, along] = [firstOf(newStream()), firstOf(newStream())];
      companion.next = { appends: [along], requires: new Map([[before.stream, 1]]) };
      expect(await log.store.append(append)).toMatchObject({ revision: 0 });
      expect(companion.told).toEqual(['left_out']);
      expect(await log.store.readStream(append.stream)).toHaveLength(1);
      expect(await log.store.readStream(along.stream)).toEqual([]);
    });

    it('leaves all companions out if one does not fit', async () => {
      const before = await seen();
      const fits = firstOf(newStream());
      companion.next = { appends: [fits, firstOf(before.stream)], requires: NOTHING };
      await log.store.append(firstOf(newStream()));
      expect(companion.told).toEqual(['left_out']);
      expect(await log.store.readStream(fits.stream)).toEqual([]);
    });

    it('leaves companions out if another client has written since', async () => {
      await seen();
      const { store: other } = await log.harness.open();
      // If all clients share one memory, no append is ever written unseen.
      const isShared = other === log.store;
      await other.append(firstOf(newStream()));
      const along = firstOf(newStream());
      companion.next = { appends: [along], requires: NOTHING };
      await log.store.append(firstOf(newStream()));
      expect(companion.told).toEqual([isShared ? 'written' : 'left_out']);
      expect(await log.store.readStream(along.stream)).toHaveLength(isShared ? 1 : 0);
    });

    it('leaves companions out if the append that they accompany meets a conflict', async () => {
      const before = await seen();
      const along = firstOf(newStream());
      companion.next = { appends: [along], requires: NOTHING };
      await expectConflict(log.store.append(firstOf(before.stream)), {
        stream: before.stream,
        expected: 'no_stream',
        actual: 0,
      });
      expect(companion.told).not.toContain('written');
      expect(await log.store.readStream(along.stream)).toEqual([]);
    });

    it('leaves out companions that could not be sent by themselves', async () => {
      await seen();
      const append = firstOf(newStream());
      const unfit = { ...firstOf(newStream()), events: [newEvent({ data: '"\ud800"' })] };
      companion.next = { appends: [unfit], requires: NOTHING };
      await log.store.append(append);
      expect(companion.told).toEqual(['left_out']);
      expect(await log.store.readStream(append.stream)).toHaveLength(1);
    });

    it('writes companions once if the same append is repeated', async () => {
      await seen();
      const [append, along] = [firstOf(newStream()), firstOf(newStream())];
      companion.next = { appends: [along], requires: NOTHING };
      const result = await log.store.append(append);
      companion.next = { appends: [along], requires: NOTHING };
      expect(await log.store.append(append)).toEqual(result);
      expect(await log.store.readStream(append.stream)).toHaveLength(1);
      expect(await log.store.readStream(along.stream)).toHaveLength(1);
    });

    it('tells an error of the party that is asked for companions, and writes the append alone', async () => {
      await seen();
      const defect = new Error('a defect');
      companion.look = () => {
        throw defect;
      };
      const append = firstOf(newStream());
      expect(await log.appends.append(append, {})).toMatchObject({ revision: 0 });
      expect(await log.store.readStream(append.stream)).toHaveLength(1);
      expect(companion.errors).toEqual([defect]);
      expect(companion.told).toEqual([]);
    });

    it('asks for no more companions once the returned function was called', async () => {
      await seen();
      companion.leave();
      await log.store.append(firstOf(newStream()));
      expect(companion.asked).toBe(0);
    });
  });
};
