import { setTimeout as sleep } from 'node:timers/promises';

import { type CallOutcome, failedOutcome } from '#libs/domain/connectors';
import type { Clock, EndSignal } from '#libs/domain/kernel';
import { EgressFailure } from '#libs/infra/egress';

import { deadlineAfter } from '../call-deadline.js';
import { FATE_UNKNOWN } from './database-outcome.js';
import { type DatabaseSession, SessionRefused } from './database-session.js';
import { StatementFailed } from './statement-run.js';
import { endHolderOf, fateOf } from './transaction-script.js';

/** What became of a transaction whose answer nobody has. */
export type Fate =
  | {
      readonly kind: 'committed';
      /** Where the change log stood when it was asked: the commit lies before it. */
      readonly lsn: string | null;
    }
  | { readonly kind: 'other'; readonly outcome: CallOutcome };

/** A deadline that has almost passed leaves this long all the same: asking changes nothing. */
const LEAST_MS = 3_000;
const PAUSE_MS = 100;

interface FateTerms {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly deadlineMonotonicMs: number;
}

/**
 * Asks the database itself, by the id of the transaction, until it says how it ended. A session that still holds the
 * transaction has lost its process, and is ended.
 * @param open a new session with the role that ran the statement
 */
export const fateOfTransaction = async (
  xid: string,
  open: (signal: EndSignal) => Promise<DatabaseSession>,
  { clock, deadlineMonotonicMs }: FateTerms,
): Promise<Fate> => {
  const { signal, clear } = deadlineAfter(Math.max(LEAST_MS, deadlineMonotonicMs - clock.monotonicMs()));
  try {
    while (!signal.aborted) {
      const fate = await fateOnce(xid, open, signal);
      if (fate !== null) return fate;
      await sleep(PAUSE_MS);
    }
    return { kind: 'other', outcome: FATE_UNKNOWN };
  } finally {
    clear();
  }
};

/** Null: ask again. */
const fateOnce = async (
  xid: string,
  open: (signal: EndSignal) => Promise<DatabaseSession>,
  signal: EndSignal,
): Promise<Fate | null> => {
  let session: DatabaseSession | null = null;
  const end = (): void => session?.destroy();
  signal.addEventListener('abort', end);
  try {
    session = await open(signal);
    for (;;) {
      const [answer] = await session.script(fateOf(xid));
      const [status = null, lsn = null] = answer?.rows[0] ?? [];
      if (status === 'committed') return { kind: 'committed', lsn };
      if (status === 'aborted') return { kind: 'other', outcome: ABORTED };
      // The database has forgotten it, which takes it millions of transactions.
      if (status !== 'in progress') return { kind: 'other', outcome: FATE_UNKNOWN };
      await session.script(endHolderOf(xid));
      await sleep(PAUSE_MS);
    }
  } catch (error) {
    if (error instanceof StatementFailed && !(session?.hasEnded ?? true)) {
      // It does not know the transaction, or takes no such question: another server than the one that ran it.
      return { kind: 'other', outcome: FATE_UNKNOWN };
    }
    if (error instanceof StatementFailed || error instanceof EgressFailure || error instanceof SessionRefused)
      return null;
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
    session?.destroy();
  }
};

const ABORTED: CallOutcome = {
  ...failedOutcome(
    'connector_unavailable',
    'The connection to the database broke, and the database says that the transaction was rolled back. Nothing was applied.',
  ),
  hasSent: true,
};
