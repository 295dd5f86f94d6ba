import type pg from 'pg';
import { timestampOf, claimedTimeOf, type RecordedEvent } from '#libs/domain/kernel';
import type { BrokenLedger, ParkedOrg, UnsealedEvent } from '#libs/domain/ledger';
import { inspectProjections, PROJECTION_LAG_LIMIT, type ProjectionLag } from '#libs/infra/diagnosis';
import { redactText } from '#libs/infra/logging';
import type { Examination } from './examination.js';
import { ok, problem, problemOf, warning, type Finding } from './finding.js';

/** What waits is counted up to here. */
const COUNT_LIMIT = 1_000;
/** Of a check's time, for counting. */
const COUNT_TIME_MS = 2_000;

const isOlderThan = (ageMs: number, recorded: RecordedEvent, nowMs: number): boolean =>
  nowMs - (claimedTimeOf(recorded) ?? 0) >= ageMs;

/** What has waited for so long, as far as there is time to find it. */
class Count {
  readonly nowMs = Date.now();
  /** Whether all of it was counted. */
  isComplete = true;

  constructor(private readonly patienceMs: number) {}

  /** Asked of what is looked at, in the order of the log. */
  readonly endsBefore = (recorded: RecordedEvent): boolean => {
    // The log is in order of time but for small differences between clocks.
    if (!isOlderThan(this.patienceMs, recorded, this.nowMs)) return true;
    if (Date.now() - this.nowMs >= COUNT_TIME_MS) this.isComplete = false;
    return !this.isComplete;
  };

  async of<Waiting>(inOrder: AsyncGenerator<Waiting, void>): Promise<readonly Waiting[]> {
    const waiting: Waiting[] = [];
    for await (const each of inOrder) {
      if (waiting.push(each) < COUNT_LIMIT) continue;
      this.isComplete = false;
      break;
    }
    return waiting;
  }
}

/** Whether anybody executes what was allowed, by the word of the log: also where no service answers. */
export const checkExecutions = async (examination: Examination): Promise<Finding> => {
  const { executionPatienceFor, UnfinishedExecutions } = await import('#libs/domain/gate');
  const { PostgresLiveness, PostgresOpenExecutions } = await import('#libs/infra/gate');
  const { store, pool } = await examination.database();
  const patienceMs = executionPatienceFor(examination.config);
  if (await new PostgresLiveness(pool).isAnyBeating(patienceMs)) return ok('A worker is there, which executes calls.');
  const unfinished = new UnfinishedExecutions(store, new PostgresOpenExecutions(pool, store));
  const count = new Count(patienceMs);
  const waiting = await count.of(unfinished.inOrder({ upTo: await store.head(), endsBefore: count.endsBefore }));
  return judgeExecutions({
    waiting,
    isComplete: count.isComplete,
    patienceMs,
    isWorkerThere: await examination.isConnected('worker', 'standalone'),
  });
};

/** Where nobody has shown lately that he executes. */
export interface ExecutionsState {
  /** What was allowed for longer than it takes to be taken up and has not ended, each by the event that made it ready. */
  readonly waiting: readonly RecordedEvent[];
  /** Whether that is all of it. */
  readonly isComplete: boolean;
  readonly patienceMs: number;
  /** A process that should execute is connected to the database. */
  readonly isWorkerThere: boolean;
}

export const judgeExecutions = ({ waiting, isComplete, patienceMs, isWorkerThere }: ExecutionsState): Finding => {
  const next = isWorkerThere
    ? 'Its log says what keeps it (`a beat could not be written`); one that says nothing has to be started anew.'
    : 'Start a worker (`npm run start:worker`), or the whole service (`npm start`); what nobody begins in 5 minutes fails.';
  const [oldest] = waiting;
  if (!oldest) {
    return isComplete
      ? ok(`Nothing has waited to be executed for ${patienceMs / 1_000} s.`)
      : warning('What waits to be executed could not be found in time: much of the log was not looked at yet.', next);
  }
  return warning(
    `${countOf(waiting.length, isComplete, 'call')} to be executed since ${sinceOf(oldest)}, and ` +
      (isWorkerThere
        ? 'the worker that is connected to the database does not show that it lives.'
        : 'no worker is connected to the database.'),
    next,
  );
};

/** Whether outcomes are sealed, by the word of the log: also where no service answers, or nothing that seals runs. */
export const checkSealing = async (examination: Examination): Promise<Finding> => {
  const { LedgerTails, UnsealedEvents } = await import('#libs/domain/ledger');
  const { GATE_DEFAULTS, sealingPatienceFor } = await import('#libs/domain/gate');
  const { PostgresSealerProgress } = await import('#libs/infra/ledger');
  const { store, pool } = await examination.database();
  const progress = new PostgresSealerProgress(pool);
  const patienceMs = sealingPatienceFor(examination.config.sweepIntervalMs);
  const unsealed = new UnsealedEvents(store, progress, new LedgerTails(store));
  const count = new Count(patienceMs);
  const waiting = await count.of(unsealed.inOrder({ upTo: await store.head(), endsBefore: count.endsBefore }));
  return judgeSealing({
    parked: await progress.parked(),
    broken: await brokenLedgers(pool),
    waiting,
    isComplete: count.isComplete,
    patienceMs,
    isRefusing: (oldest) => isOlderThan(GATE_DEFAULTS.unsealedLimitMs, oldest, count.nowMs),
    isWorkerThere: await examination.isConnected('worker', 'standalone'),
    isApiThere: await examination.isConnected('api', 'standalone'),
  });
};

/** None where the database has not the table yet, which is a finding of its own. */
const brokenLedgers = async (pool: pg.Pool): Promise<readonly BrokenLedger[]> => {
  const { PostgresBrokenLedgers } = await import('#libs/infra/ledger');
  return (await isTableThere(pool, 'ledger.broken_ledgers')) ? new PostgresBrokenLedgers(pool).all() : [];
};

export const isTableThere = async (pool: pg.Pool, name: string): Promise<boolean> => {
  const { rows } = await pool.query<{ table: string | null }>('select to_regclass($1) as table', [name]);
  return (rows[0]?.table ?? null) !== null;
};

export interface SealingState {
  readonly parked: readonly Pick<ParkedOrg, 'org' | 'since' | 'reason'>[];
  /** Those that do not continue what was signed. */
  readonly broken: readonly Pick<BrokenLedger, 'org' | 'since' | 'reason'>[];
  /** What waits for longer than a sealer takes, in the order of the log. */
  readonly waiting: readonly UnsealedEvent[];
  /** Whether that is all of it. */
  readonly isComplete: boolean;
  readonly patienceMs: number;
  /** Whether new actions are refused where this is the oldest that waits. */
  readonly isRefusing: (oldest: RecordedEvent) => boolean;
  /** A process that seals is connected to the database. */
  readonly isWorkerThere: boolean;
  /** One that answers calls is. */
  readonly isApiThere: boolean;
}

export const judgeSealing = (state: SealingState): Finding => {
  const { parked, broken, waiting, isComplete, patienceMs, isRefusing, isWorkerThere, isApiThere } = state;
  const [stuck] = parked;
  if (stuck) {
    const more = parked.length === 1 ? '' : ` (and ${parked.length - 1} more)`;
    return problem(
      `The ledger of ${stuck.org}${more} cannot go on since ${stuck.since}: ${redactText(stuck.reason)}.`,
      'Put that right: a worker tries again every few seconds.',
    );
  }
  const [cut] = broken;
  if (cut) {
    const more = broken.length === 1 ? '' : ` (and ${broken.length - 1} more)`;
    return problem(
      `The ledger of ${cut.org}${more} does not continue what was signed since ${cut.since} (${cut.reason}): no checkpoint is made of it.`,
      'Look again with `npm run ags -- ledger checkpoint`; docs/checkpoints.md says what to do.',
    );
  }
  const fault = waiting.find((each) => each.fault !== null)?.fault;
  if (fault) return problemOf(`${fault.message}.`);
  const next = isWorkerThere
    ? 'Its log says what keeps it from sealing (`sealing waits`).'
    : 'Start a worker (`npm run start:worker`), or the whole service (`npm start`).';
  const [oldest] = waiting;
  if (!oldest) {
    return isComplete
      ? ok(`Nothing has waited to be sealed for ${patienceMs / 1_000} s.`)
      : warning('What waits to be sealed could not be found in time: much of the log was not sealed yet.', next);
  }
  const message =
    `${countOf(waiting.length, isComplete, 'outcome')} to be sealed since ${sinceOf(oldest.recorded)}, ` +
    `and ${isWorkerThere ? 'a' : 'no'} worker is connected to the database`;
  return isApiThere && isRefusing(oldest.recorded)
    ? problem(`${message}: new calls are refused with 503.`, next)
    : warning(`${message}.`, next);
};

/** Whether lists show what the log holds, by the word of the log: also where no service answers, or nothing projects. */
export const checkProjections = async (examination: Examination): Promise<Finding> => {
  const { READ_YOUR_WRITES_TIMEOUT_MS } = await import('#libs/infra/read-models');
  const { store, pool } = await examination.database();
  const nowMs = Date.now();
  const lag = await inspectProjections(pool, store, (next) => isOlderThan(READ_YOUR_WRITES_TIMEOUT_MS, next, nowMs));
  return judgeProjections(lag, await examination.isConnected('projector', 'standalone'));
};

export const judgeProjections = (lag: ProjectionLag | null, isProjectorThere: boolean): Finding => {
  if (lag === null) return ok('The lists show everything that the log holds.');
  const { late, oldest, events } = lag;
  return warning(
    `${countOf(events, events < PROJECTION_LAG_LIMIT, 'event')} to be shown in lists since ${sinceOf(oldest)} ` +
      `(${late.join(', ')}), and ${isProjectorThere ? 'a' : 'no'} projector is connected to the database.`,
    isProjectorThere
      ? 'Its log says what keeps it (`projection stopped`, `projection waits for its stores`).'
      : 'Start a projector (`npm run start:projector`), or the whole service (`npm start`).',
  );
};

const countOf = (count: number, isComplete: boolean, noun: string): string => {
  const what = count === 1 ? `${noun} waits` : `${noun}s wait`;
  return `${isComplete ? '' : 'At least '}${count.toLocaleString('en')} ${what}`;
};

const sinceOf = (recorded: RecordedEvent): string => {
  const atMs = claimedTimeOf(recorded);
  return atMs === null ? 'a time that it does not say' : timestampOf(atMs);
};
