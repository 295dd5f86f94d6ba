import { beforeEach, describe, expect, it } from 'vitest';
import type { Position, RecordedEvent } from '#libs/domain/kernel';
import { SetClock } from '../../../../test/support/ledger-fixtures.js';
import { TimeInLog } from './time-in-log.js';

const LIMIT_MS = 2_000;

let clock: SetClock;
let timeInLog: TimeInLog;
beforeEach(() => {
  clock = new SetClock();
  timeInLog = new TimeInLog(clock, LIMIT_MS);
});

/** One that says of itself that it was recorded so long ago. */
const eventAt = (position: Position, agoMs: number): RecordedEvent => ({
  ...{ id: '', type: 'E', data: '{}', stream: 's-1', revision: 0, position },
  metadata: JSON.stringify({ at: new Date(clock.ms - agoMs).toISOString() }),
});

describe('how long an event has been in the log', () => {
  it.each([
    [LIMIT_MS - 1, false],
    [LIMIT_MS, true],
    [-60_000, false],
  ])('is its own word before anything was seen: %i ms', (agoMs, isOver) => {
    timeInLog.sawEnd(9n);
    expect(timeInLog.isOver(eventAt(9n, agoMs))).toBe(isOver);
  });

  it.each(['{}', 'no JSON', 'null', '{"at":"yesterday"}', '{"at":7}'])(
    'is long where it does not say since when: %s',
    (metadata) => {
      expect(timeInLog.isOver({ ...eventAt(9n, 0), metadata })).toBe(true);
    },
  );

  it('is short where the log ended before it a moment ago, whatever the clock of its writer says', () => {
    timeInLog.sawEnd(8n);
    clock.ms += LIMIT_MS - 1;
    timeInLog.sawEnd(9n);
    expect(timeInLog.isOver(eventAt(9n, 60_000))).toBe(false);
    expect(timeInLog.isOver(eventAt(8n, 60_000))).toBe(true);
  });

  it('is long where the log held it long ago, whatever the clock of its writer says', () => {
    timeInLog.sawEnd(9n);
    clock.ms += LIMIT_MS;
    expect(timeInLog.isOver(eventAt(9n, -60_000))).toBe(true);
    expect(timeInLog.isOver(eventAt(10n, -60_000))).toBe(false);
  });

  it('is its own word again where nobody asked for longer', () => {
    timeInLog.sawEnd(8n);
    clock.ms += 10 * LIMIT_MS;
    timeInLog.sawEnd(9n);
    expect(timeInLog.isOver(eventAt(9n, LIMIT_MS))).toBe(true);
    expect(timeInLog.isOver(eventAt(9n, LIMIT_MS - 1))).toBe(false);
  });

  it('is known for as long as anybody asks', () => {
    for (let head = 0n; head < 1_000n; head += 1n) {
      timeInLog.sawEnd(head);
      clock.ms += 100;
    }
    // Twenty looks within the limit, and the one before them.
    expect(timeInLog.isOver(eventAt(980n, -60_000))).toBe(true);
    expect(timeInLog.isOver(eventAt(982n, 60_000))).toBe(false);
  });
});
