import { describe, expect, it } from 'vitest';
import { newEvent, newEvents, newStream } from '../../support/new-event.js';
import { expectConflict, type LogUnderTest } from './log-under-test.js';

export const repeatedAppendContract = (log: LogUnderTest): void => {
  describe('a repeated append', () => {
    it('is recorded once, with the same result', async () => {
      const append = { stream: newStream(), expectedRevision: 'no_stream', events: newEvents(3) } as const;
      const first = await log.store.append(append);
      expect(await log.store.append(append)).toEqual(first);
      expect(await log.store.readStream(append.stream)).toHaveLength(3);
    });

    it('is recorded once if the stream has moved on since', async () => {
      const append = { stream: newStream(), expectedRevision: 'no_stream', events: newEvents(1) } as const;
      const first = await log.store.append(append);
      await log.store.append({ stream: append.stream, expectedRevision: 0, events: newEvents(2) });
      const other = await log.harness.open();
      expect(await other.append(append)).toEqual(first);
      expect(await log.store.readStream(append.stream)).toHaveLength(3);
    });

    it('is recorded once if both tries are under way at once', async () => {
      const append = { stream: newStream(), expectedRevision: 'no_stream', events: newEvents(2) } as const;
      const other = await log.harness.open();
      const results = await Promise.all([log.store.append(append), log.store.append(append), other.append(append)]);
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
      expect(await log.store.readStream(append.stream)).toHaveLength(2);
    });

    it('is a conflict if its content, and so its id, differs', async () => {
      const stream = newStream();
      await log.store.append({ stream, expectedRevision: 'no_stream', events: newEvents(1) });
      await log.store.append({ stream, expectedRevision: 0, events: [newEvent({ data: '{"claim":"a"}' })] });
      await expectConflict(
        log.store.append({ stream, expectedRevision: 0, events: [newEvent({ data: '{"claim":"b"}' })] }),
        { stream, expected: 0, actual: 1 },
      );
    });

    it('is a conflict if a part of it is new', async () => {
      const stream = newStream();
      const [known, another, fresh] = [newEvent(), newEvent(), newEvent()];
      await log.store.append({ stream, expectedRevision: 'no_stream', events: [known, another] });
      const partlyNew = { stream, expectedRevision: 'no_stream', events: [known, another, fresh] } as const;
      await expectConflict(log.store.append(partlyNew), { stream, expected: 'no_stream', actual: 1 });
      expect(await log.store.readStream(stream)).toHaveLength(2);
    });

    it('is a conflict at another revision', async () => {
      const stream = newStream();
      const event = newEvent();
      await log.store.append({ stream, expectedRevision: 'no_stream', events: [newEvent(), event, newEvent()] });
      await expectConflict(log.store.append({ stream, expectedRevision: 1, events: [event] }), {
        stream,
        expected: 1,
        actual: 2,
      });
    });
  });
};
