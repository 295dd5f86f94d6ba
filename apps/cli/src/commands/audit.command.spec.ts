import { beforeAll, describe, expect, it, vi } from 'vitest';
import { PayloadComparison, type NamedPayload, type PayloadFault } from '#libs/domain/gate';
import { MemoryEventStore } from '#libs/infra/event-store';
import { finished, GivenLog, started, testId } from '../../../../test/support/given-log.js';
import { writtenTerminal } from '../../../../test/support/written-terminal.js';
import { ProgressLine } from '../terminal.js';
import { audit } from './audit.command.js';

/** Two pages and more. */
const ACTIONS = 300;
const EVENTS = ACTIONS * 5;

class HeldPayloads extends PayloadComparison {
  readonly asked: number[] = [];
  constructor(private readonly judge: (named: NamedPayload) => PayloadFault | null) {
    super();
  }

  override compare(named: readonly NamedPayload[]): Promise<readonly (PayloadFault | null)[]> {
    this.asked.push(named.length);
    return Promise.resolve(named.map(this.judge));
  }
}

let log: MemoryEventStore;
beforeAll(async () => {
  log = new MemoryEventStore();
  const given = new GivenLog(log);
  for (let number = 1; number <= ACTIONS; number += 1) {
    await given.append(`action-${testId('act', number)}`, ...started(number), finished(number));
  }
});

const goingOn = new AbortController().signal;
/** Nothing was ever removed. */
const retention = { passedUpTo: () => Promise.resolve(null), hasPassedAction: () => Promise.resolve(false) };

describe('an audit', () => {
  it('compares every payload, some at a time', async () => {
    const payloads = new HeldPayloads(({ owner, kind }) =>
      owner === testId('act', 250) && kind === 'result' ? 'missing' : null,
    );
    const { terminal } = writtenTerminal({ isTTY: false });
    const verdict = await audit({ log, payloads, retention }, null, new ProgressLine(terminal), goingOn);
    expect(verdict).toMatchObject({ events: EVENTS, payloads: 2 * ACTIONS, faultCount: 1 });
    expect(verdict.faults).toEqual([
      expect.objectContaining({ code: 'payload_missing', stream: `action-${testId('act', 250)}`, revision: 4 }),
    ]);
    expect(payloads.asked.length).toBeGreaterThan(2 * 5);
    expect(Math.max(...payloads.asked)).toBe(50);
  });

  it('shows how much of the log it has compared', async () => {
    const { terminal, err } = writtenTerminal({ isTTY: true });
    await audit({ log, payloads: new HeldPayloads(() => null), retention }, null, new ProgressLine(terminal), goingOn);
    expect(err().split('\r\u001b[K')).toEqual([
      '',
      'audit      [################........] 66 %, 1,000 events',
      'audit      [########################] 100 %, 1,500 events',
      '',
    ]);
  });
});

describe('an audit that is interrupted', () => {
  it('ends after the page that it compares, and takes its progress away', async () => {
    const interrupting = new AbortController();
    const reading = vi.spyOn(log, 'readAll').mockImplementation((...range) => {
      interrupting.abort();
      return MemoryEventStore.prototype.readAll.apply(log, range);
    });
    const { terminal, err } = writtenTerminal({ isTTY: true });
    const audited = { log, payloads: new HeldPayloads(() => null), retention };
    await expect(audit(audited, null, new ProgressLine(terminal), interrupting.signal)).rejects.toMatchObject({
      code: 'interrupted',
      message: expect.stringContaining('It was interrupted'),
      exitCode: 1,
    });
    expect(reading).toHaveBeenCalledTimes(1);
    reading.mockRestore();
    expect(err()).toMatch(/ 66 %, 1,000 events\r\u001b\[K$/);
  });
});
