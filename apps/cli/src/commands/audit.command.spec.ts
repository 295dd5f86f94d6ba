import { describe, expect, it } from 'vitest';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GivenLog, started, testId } from '../../../../test/support/given-log.js';
import { writtenTerminal } from '../../../../test/support/written-terminal.js';
import { ProgressLine } from '../terminal.js';
import { audit } from './audit.command.js';

/** Two pages and more. */
const ACTIONS = 1_500;

describe('an audit that is interrupted', () => {
  it('ends after the page that it compares, and takes its progress away', async () => {
    const store = new MemoryEventStore();
    const log = new GivenLog(store);
    for (let number = 1; number <= ACTIONS; number += 1) {
      await log.append(`action-${testId('act', number)}`, ...started(number));
    }
    const interrupting = new AbortController();
    const readAll = store.readAll.bind(store);
    let pages = 0;
    store.readAll = (...range) => {
      pages += 1;
      interrupting.abort();
      return readAll(...range);
    };
    const { terminal, err } = writtenTerminal({ isTTY: true });
    await expect(audit(store, null, new ProgressLine(terminal), interrupting.signal)).rejects.toMatchObject({
      code: 'interrupted',
      message: expect.stringContaining('It was interrupted'),
      exitCode: 1,
    });
    expect(pages).toBe(1);
    expect(err()).toMatch(/Compared 1,000 events\r\u001b\[K$/);
  });
});
