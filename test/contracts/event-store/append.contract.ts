import { describe, expect, it } from 'vitest';
import { type AppendResult, RevisionConflict } from '#libs/domain/kernel';
import { newEvent, newEvents, newStream } from '../../support/new-event.js';
import { expectConflict, type LogUnderTest } from './log-under-test.js';

export const appendContract = (log: LogUnderTest): void => {
  describe('append', () => {
    it('returns revision and position of the last event', async () => {
      const stream = newStream();
      const first = await log.store.append({ stream, expectedRevision: 'no_stream', events: newEvents(3) });
      const second = await log.store.append({ stream, expectedRevision: 2, events: newEvents(1) });
      const recorded = await log.store.readStream(stream);
      expect(first.revision).toBe(2);
      expect(second.revision).toBe(3);
      expect([first.position, second.position]).toEqual([recorded[2]?.position, recorded[3]?.position]);
    });

    it('gives back every event as it was written', async () => {
      const stream = newStream();
      const written = newEvent({
        type: 'Ünïcode🦊',
        data: JSON.stringify({ nul: '\u0000', backslash: '\\u0000', quote: '"', text: 'zażółć 漢字 🦊 \u2028' }),
        metadata: '{ "spaces" :  "kept", "b":1, "a":1, "a":2 }',
      });
      await log.store.append({ stream, expectedRevision: 'no_stream', events: [written] });
      const [recorded] = await log.store.readStream(stream);
      expect(recorded).toMatchObject({ ...written, stream, revision: 0 });
    });

    it('refuses a stream that exists where none was expected', async () => {
      const stream = newStream();
      await log.store.append({ stream, expectedRevision: 'no_stream', events: newEvents(2) });
      await expectConflict(log.store.append({ stream, expectedRevision: 'no_stream', events: newEvents(1) }), {
        stream,
        expected: 'no_stream',
        actual: 1,
      });
    });

    it('refuses a stream that does not exist where one was expected', async () => {
      const stream = newStream();
      await expectConflict(log.store.append({ stream, expectedRevision: 0, events: newEvents(1) }), {
        stream,
        expected: 0,
        actual: 'no_stream',
      });
      expect(await log.store.readStream(stream)).toEqual([]);
    });

    it.each([0, 2])('refuses a stream at revision 1 where %i was expected', async (expected) => {
      const stream = newStream();
      await log.store.append({ stream, expectedRevision: 'no_stream', events: newEvents(2) });
      await expectConflict(log.store.append({ stream, expectedRevision: expected, events: newEvents(1) }), {
        stream,
        expected,
        actual: 1,
      });
      expect(await log.store.readStream(stream)).toHaveLength(2);
    });

    it('lets one of two racing appends win', async () => {
      const other = await log.harness.open();
      for (let round = 0; round < 20; round += 1) {
        const stream = newStream();
        const results = await Promise.allSettled(
          [log.store, other].map((racer) =>
            racer.append({ stream, expectedRevision: 'no_stream', events: newEvents(2) }),
          ),
        );
        expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
        const loser = results.find((result) => result.status === 'rejected');
        expect(loser?.reason).toBeInstanceOf(RevisionConflict);
        expect(await log.store.readStream(stream)).toHaveLength(2);
      }
    });

    it('lets one of many appends in one batch of this process win', async () => {
      const stream = newStream();
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, () =>
          log.store.append({ stream, expectedRevision: 'no_stream', events: newEvents(1) }),
        ),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await log.store.readStream(stream)).toHaveLength(1);
    });

    it('gives each of several simultaneous appends its own result, some of them conflicts', async () => {
      const taken = newStream();
      await log.store.append({ stream: taken, expectedRevision: 'no_stream', events: newEvents(1) });
      const repeated = { stream: newStream(), expectedRevision: 'no_stream', events: newEvents(2) } as const;
      const before = await log.store.append(repeated);
      const free = Array.from({ length: 50 }, newStream);
      const results = await Promise.allSettled([
        ...free.map((stream) => log.store.append({ stream, expectedRevision: 'no_stream', events: newEvents(2) })),
        log.store.append({ stream: taken, expectedRevision: 'no_stream', events: newEvents(1) }),
        log.store.append(repeated),
        log.store.append({ stream: taken, expectedRevision: 7, events: newEvents(1) }),
        log.store.append({ stream: taken, expectedRevision: 0, events: newEvents(1) }),
      ]);
      const [conflict, repetition, ahead, next] = results.slice(-4);
      expect(conflict).toMatchObject({ status: 'rejected', reason: { name: 'RevisionConflict', actual: 0 } });
      expect(repetition).toEqual({ status: 'fulfilled', value: before });
      expect(ahead).toMatchObject({ status: 'rejected', reason: { name: 'RevisionConflict' } });
      expect(next).toMatchObject({ status: 'fulfilled', value: { revision: 1 } });
      for (const [index, stream] of free.entries()) {
        const result = results[index] as PromiseFulfilledResult<AppendResult>;
        const recorded = await log.store.readStream(stream);
        expect(recorded.map(({ revision }) => revision)).toEqual([0, 1]);
        expect(result.value).toEqual({ revision: 1, position: recorded[1]?.position });
      }
    });

    it('keeps the order of appends that do not wait for each other', async () => {
      const stream = newStream();
      const events = newEvents(100);
      const appends = events.map((event, index) =>
        log.store.append({ stream, expectedRevision: index === 0 ? 'no_stream' : index - 1, events: [event] }),
      );
      const results = await Promise.all(appends);
      expect(results.map(({ revision }) => revision)).toEqual(events.map((_, index) => index));
      expect((await log.store.readStream(stream)).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    });

    it.each([
      ['an id that is no UUID', { id: 'act_1' }],
      ['a raw U+0000', { data: '"\0"' }],
      ['half a surrogate pair', { data: '"\ud800"' }],
      ['no type', { type: '' }],
    ])('refuses %s and writes what was appended at the same moment', async (_, broken) => {
      const [spoiled, neighbour] = [newStream(), newStream()];
      const results = await Promise.allSettled([
        log.store.append({ stream: spoiled, expectedRevision: 'no_stream', events: [newEvent(), newEvent(broken)] }),
        log.store.append({ stream: neighbour, expectedRevision: 'no_stream', events: newEvents(1) }),
      ]);
      expect(results).toMatchObject([
        { status: 'rejected', reason: expect.any(TypeError) as unknown },
        { status: 'fulfilled', value: { revision: 0 } },
      ]);
      expect(await log.store.readStream(spoiled)).toEqual([]);
    });

    it('refuses an append without events, and expectations that are no revision', async () => {
      const stream = newStream();
      await expect(log.store.append({ stream, expectedRevision: 'no_stream', events: [] })).rejects.toThrow(TypeError);
      for (const expectedRevision of [-1, 0.5, Number.NaN]) {
        await expect(log.store.append({ stream, expectedRevision, events: newEvents(1) })).rejects.toThrow(TypeError);
      }
      expect(await log.store.heads([stream])).toEqual(new Map());
    });
  });
};
