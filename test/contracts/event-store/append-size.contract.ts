import { describe, expect, it } from 'vitest';
import { APPEND_LIMIT_BYTES, AppendTooLarge } from '#libs/domain/kernel';
import { newEvent, newStream } from '../../support/new-event.js';
import type { LogUnderTest } from './log-under-test.js';

export const appendSizeContract = (log: LogUnderTest): void => {
  describe('size', () => {
    const sized = (bytes: number) => {
      const frame = newEvent({ data: '""' });
      const used = Buffer.byteLength(frame.type + frame.data + frame.metadata);
      // Each letter has two bytes, because the limit counts bytes and not characters.
      const letters = 'é'.repeat(Math.floor((bytes - used) / 2));
      return { ...frame, data: JSON.stringify(letters + 'x'.repeat((bytes - used) % 2)) };
    };

    it(`takes an append of exactly ${APPEND_LIMIT_BYTES} bytes`, async () => {
      const stream = newStream();
      const event = sized(APPEND_LIMIT_BYTES);
      await log.store.append({ stream, expectedRevision: 'no_stream', events: [event] });
      expect((await log.store.readStream(stream))[0]?.data).toBe(event.data);
    });

    it('refuses an append of one byte more over all its events, and writes nothing', async () => {
      const stream = newStream();
      const events = [sized(APPEND_LIMIT_BYTES / 2), sized(APPEND_LIMIT_BYTES / 2 + 1)];
      const refused = log.store.append({ stream, expectedRevision: 'no_stream', events });
      await expect(refused).rejects.toBeInstanceOf(AppendTooLarge);
      await expect(refused).rejects.toMatchObject({ bytes: APPEND_LIMIT_BYTES + 1 });
      expect(await log.store.readStream(stream)).toEqual([]);
    });

    it('takes several such appends at once', async () => {
      const appends = Array.from({ length: 4 }, () => ({
        stream: newStream(),
        expectedRevision: 'no_stream' as const,
        events: [sized(APPEND_LIMIT_BYTES)],
      }));
      const results = await Promise.all(appends.map((append) => log.store.append(append)));
      expect(results.map(({ revision }) => revision)).toEqual([0, 0, 0, 0]);
    });
  });
};
