import { publicIdOf } from '#libs/domain/events';
import { beforeEach, describe, expect, it } from 'vitest';
import { SseParser } from '../../../../test/support/sse-parser.js';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { FedEvent } from './event-feed.js';
import { EventFilter } from './event-filter.js';
import { EventStream, LAG_EVENTS } from './event-stream.js';

const eventOf = (seq: number): FedEvent =>
  new FedEvent(
    {
      seq: String(seq),
      evt: publicIdOf(String(seq)),
      org: TEST_ORG,
      type: 'deed.sealed',
      agent: null,
      livemode: true,
      trace: null,
      thin: { object: 'deed_summary', id: testId('deed', seq) },
      at: testTime(seq),
    },
    null,
    'abc',
  );

const MINUTE_MS = 60_000;

let writes: Buffer[];
let output: { isBlocked: boolean; isOver: boolean; write(chunk: Uint8Array): void; end(): void };
let stream: EventStream;

beforeEach(() => {
  writes = [];
  output = {
    isBlocked: false,
    isOver: false,
    write: (chunk) => void writes.push(Buffer.from(chunk)),
    end: () => {
      output.isOver = true;
    },
  };
  stream = new EventStream(new EventFilter(null, null, null), output, 0);
});

/** What was written, as a client understands it: cursors of events, and names of the rest. */
const heard = (): readonly string[] => {
  const parser = new SseParser();
  return writes.flatMap((chunk) => parser.feed(chunk)).map(({ type, id }) => (type === 'deed.sealed' ? id : type));
};
const offer = (...numbers: readonly number[]): void => numbers.forEach((seq) => stream.offer(eventOf(seq)));
const many = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('a stream', () => {
  it('writes what came since the last tick at once', () => {
    offer(1, 2, 3);
    expect(writes).toEqual([]);
    stream.tick(50);
    offer(4);
    stream.tick(100);
    expect([writes.length, heard()]).toEqual([2, ['abc.1', 'abc.2', 'abc.3', 'abc.4']]);
  });

  it('pings when nothing else was sent for 15 seconds, and then only', () => {
    stream.tick(14_999);
    expect(writes).toEqual([]);
    stream.tick(15_000);
    stream.tick(29_999);
    expect(writes.map(String)).toEqual([': ping\n\n']);
    offer(1);
    stream.tick(29_999);
    stream.tick(44_998);
    expect(writes).toHaveLength(2);
    stream.tick(44_999);
    expect(String(writes[2])).toBe(': ping\n\n');
  });

  it('moves the cursor past what it does not show, by a ping', () => {
    const parser = new SseParser();
    offer(1);
    stream.passOver(eventOf(2));
    stream.passOver(eventOf(3));
    stream.tick(50);
    stream.tick(15_050);
    expect(String(writes[1])).toBe('id: abc.3\n: ping\n\n');
    expect(writes.flatMap((chunk) => parser.feed(chunk)).map(({ id }) => id)).toEqual(['abc.1']);
    expect(parser.lastEventId).toBe('abc.3');
    stream.tick(30_050);
    expect(String(writes[2])).toBe(': ping\n\n');
  });

  it('moves no cursor past what still waits, or what came later', () => {
    stream.passOver(eventOf(1));
    offer(2);
    stream.tick(15_000);
    stream.tick(30_000);
    expect(writes.slice(1).map(String)).toEqual([': ping\n\n']);
  });

  it('ends after 30 minutes, with all that waits', () => {
    stream.tick(30 * MINUTE_MS - 1);
    offer(1);
    stream.tick(30 * MINUTE_MS);
    expect([output.isOver, heard()]).toEqual([true, ['abc.1']]);
  });

  it('holds back while its reader takes nothing, and then writes on where it stopped', () => {
    offer(1);
    stream.tick(50);
    output.isBlocked = true;
    for (let tick = 2; tick < 10; tick += 1) {
      offer(tick);
      stream.tick(tick * 50);
    }
    expect(heard()).toEqual(['abc.1']);
    output.isBlocked = false;
    stream.tick(500);
    expect([writes.length, heard()]).toEqual([2, many(9).map((seq) => `abc.${seq}`)]);
  });

  it(`closes with lagged when its reader is ${LAG_EVENTS} events behind`, () => {
    output.isBlocked = true;
    stream.tick(50);
    offer(...many(LAG_EVENTS - 1));
    stream.tick(100);
    expect([output.isOver, heard()]).toEqual([false, []]);
    offer(LAG_EVENTS);
    stream.tick(150);
    expect([output.isOver, heard()]).toEqual([true, ['resync']]);
    expect(String(writes[0])).toContain('"reason":"lagged"');
    offer(1_000);
    stream.tick(200);
    expect(writes).toHaveLength(1);
  });

  it('takes no reader for slow that a burst fills for a moment', () => {
    offer(...many(2 * LAG_EVENTS));
    stream.tick(50);
    expect(heard()).toHaveLength(2 * LAG_EVENTS);
    output.isBlocked = true;
    offer(...many(2 * LAG_EVENTS));
    stream.tick(100);
    output.isBlocked = false;
    stream.tick(150);
    expect([output.isOver, heard().length]).toEqual([false, 4 * LAG_EVENTS]);
  });

  it('tells nothing more of what waits when its session has ended', () => {
    offer(1);
    stream.endSession('session_expired', 'Sign in again.');
    offer(2);
    stream.tick(50);
    stream.end();
    expect([output.isOver, heard()]).toEqual([true, ['session_ended']]);
    expect(String(writes[0])).toContain('data: {"code":"session_expired","message":"Sign in again."}\n\n');
  });

  it('asks for its credential once a minute', () => {
    const due = [59_999, 60_000, 60_050, 119_999, 120_000].map((nowMs) => stream.isCheckDue(nowMs));
    expect(due).toEqual([false, true, false, false, true]);
  });

  it('asks for it once more where something was told by which it may have ended', () => {
    stream.doubt();
    stream.doubt();
    expect([10, 20, 60_009, 60_010].map((nowMs) => stream.isCheckDue(nowMs))).toEqual([true, false, false, true]);
  });
});
