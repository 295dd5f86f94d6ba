import { expect, it } from 'vitest';
import { type BudgetRows, ReservationSweeper } from '#libs/domain/gate';
import { idOf, streamOf, type ActionId } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { collectingLogger } from '../support/collecting-logger.js';
import { GateBench } from '../support/gate-bench.js';

const UNREADABLE = {
  id: '00000000-0000-8000-8000-000000000001',
  type: 'ActionRescheduled',
  data: '{}',
  metadata: '{}',
};

/** Rows of reservations that no event confirms, as PostgreSQL hands them out: oldest first, until they are freed. */
const rowsOf = (left: readonly ActionId[]) => {
  let held = left;
  const rows: Pick<BudgetRows, 'unconfirmed' | 'reach' | 'freeUnconfirmed'> = {
    unconfirmed: () => Promise.resolve(held),
    reach: () => Promise.resolve(true),
    freeUnconfirmed: (actions) => {
      const before = held.length;
      held = held.filter((action) => !actions.includes(action));
      return Promise.resolve(before - held.length);
    },
  };
  return { rows: rows as BudgetRows, held: () => held };
};

it('an action whose events cannot be read keeps its reservation, is named once and holds up no other', async () => {
  const bench = new GateBench(new MemoryEventStore());
  const [damaged, lost] = [idOf('act', Buffer.alloc(16, 1)), idOf('act', Buffer.alloc(16, 2))];
  await bench.store.append({
    stream: streamOf('action', damaged),
    expectedRevision: 'no_stream',
    events: [UNREADABLE],
  });
  const { rows, held } = rowsOf([damaged, lost]);
  const logger = collectingLogger();
  const sweeper = new ReservationSweeper(bench.gate, rows, logger);
  expect([await sweeper.sweep(), await sweeper.sweep()]).toEqual([1, 0]);
  expect(held()).toEqual([damaged]);
  expect(logger.errors.map(String)).toEqual([expect.stringContaining('UnknownEventType')]);
});
