import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../../test/support/given.js';
import {
  ACTION,
  allowed,
  decided,
  execution,
  failed,
  finished,
  ready,
  running,
  started,
  submission,
  submitted,
  succeeded,
  typesOf,
} from '../../../../../test/support/gate-fixtures.js';
import { digestOf } from '#libs/crypto';
import type { CommittedTransaction, StatementSaid } from '../../connectors/index.js';
import type { ActionCommand } from './action.commands.js';
import { actionDecider } from './action.decider.js';
import type { ActionEvent, ChangeLogWord, ExecutionOutcome } from './action.events.js';
import { awaitsChangeLog } from './action.state.js';
import type { LivingAction } from './action.state.js';
import type { SeenTransaction } from './seen-transaction.js';

const given = givenFor(actionDecider);
type Bare<Command> = Command extends { metadata: unknown } ? Omit<Command, 'metadata'> : never;
type Told = Bare<ActionCommand>;

const WAIT_MS = 5_000;
const ORDERS = 'public.orders';
const said: StatementSaid = {
  xid: '7',
  kind: 'update',
  tables: [{ table: ORDERS, kinds: ['update'], is_partitioned: false }],
  side_effect_tables: [],
};
const updated = (rows: number) => ({ table: ORDERS, insert: 0, update: rows, delete: 0, truncate: 0 });
const transaction: CommittedTransaction = { xid: '7', commit_lsn: '0/18', rows: 1, counts: [updated(1)] };
const seenRows = (rows: number): SeenTransaction => ({
  ...{ xid: 7, commit_lsn: '0/10', committed_at: NOW, tables_left_out: 0, marks: 1, rows_kept: rows },
  tables: rows === 0 ? [] : [{ ...updated(rows), replica_identity: 'full' }],
});
const evidence = digestOf('evidence');
const word = (rows = 1, attempt = 1): ChangeLogWord => ({
  ...{ attempt, seen: seenRows(rows), postcondition: 'none', evidence_digest: evidence },
});

const watched: ActionEvent = {
  type: 'ExecutionReady',
  data: { ...(ready().data as object), change_log: { timeout_ms: WAIT_MS } } as never,
};
const claimed = [submitted, decided(allowed), watched, started('c1')];
const progress: ActionEvent = {
  type: 'ExecutionProgress',
  data: { action: ACTION, attempt: 1, claim: 'c1', said, at: NOW },
};
const begun = [...claimed, progress];

const unknown: ExecutionOutcome = { ...succeeded, status: 'unknown', error_code: 'timeout', result_digest: null };
const record = (outcome = succeeded, committed: CommittedTransaction | undefined = transaction): Told => ({
  type: 'RecordOutcome',
  data: {
    claim: 'c1',
    outcome,
    withdrawn: null,
    ...(outcome.status === 'succeeded' ? { transaction: committed } : {}),
  },
});
const report = (rows = 1, attempt = 1): Told => ({ type: 'ReportWitness', data: word(rows, attempt) });
const absence: Told = { type: 'RecordAbsence', data: { reason: 'transaction_missing' } };
const giveUp = (reason: 'timeout' | 'decoder_down' = 'timeout'): Told => ({ type: 'GiveUpWitness', data: { reason } });
const lost = (found: Extract<ActionCommand, { type: 'GiveUpExecution' }>['data']['found'] = null): Told => ({
  type: 'GiveUpExecution',
  data: { claim: 'c1', isExecutorSilent: true, isPastDeadline: false, found },
});

/** The events after those that the commands give, one after another. */
const having = (events: readonly ActionEvent[], ...commands: readonly Told[]): readonly ActionEvent[] =>
  commands.reduce<readonly ActionEvent[]>(
    (so, command) => [
      ...so,
      ...given(...so)
        .when(command, after(WAIT_MS))
        .events(),
    ],
    events,
  );
const types = (events: readonly ActionEvent[], from = begun): readonly string[] => typesOf(events.slice(from.length));
const stateOf = (events: readonly ActionEvent[]): LivingAction => given(...events).state as LivingAction;
const witnessOf = (events: readonly ActionEvent[]): string => {
  const { witness } = stateOf(events);
  return witness === null ? 'none' : [witness.level, witness.verdict, witness.method, ...witness.reasons].join(' ');
};

describe('what an attempt is about to do', () => {
  const tell = (claim = 'c1', xid = '7'): Told => ({ type: 'RecordProgress', data: { claim, said: { ...said, xid } } });

  it('is on record under the current claim', () =>
    given(...claimed)
      .when(tell() as never)
      .then(progress));

  it('is on record once an attempt: the same again changes nothing, another is refused', () => {
    given(...begun)
      .when(tell())
      .thenNothing();
    given(...begun)
      .when(tell('c1', '8'))
      .thenRefuses('conflict');
  });

  it.each([
    ['a claim that another executor has taken', [...claimed, started('c2', 2)], 'c1'],
    ['a claim that was never made', claimed, 'c9'],
    ['an attempt whose outcome is recorded', [...claimed, finished(failed, 'c1')], 'c1'],
  ])('is refused for %s', (_, events, claim) =>
    given(...events)
      .when(tell(claim))
      .thenRefuses('conflict'),
  );
});

describe('the witness of a tool that a change log watches', () => {
  it('the terms of the call say how long the log is waited for', () => {
    const data = { submission, decision: allowed, claimant: null };
    const [, , event] = given()
      .when({ type: 'SubmitAction', data: { ...data, execution: { ...execution, changeLogTimeoutMs: WAIT_MS } } })
      .events();
    expect(event).toEqual(watched);
  });

  it('waits after the outcome, and is what the log shows', () => {
    const waiting = having(begun, record());
    expect(types(waiting)).toEqual(['ExecutionFinished']);
    expect(waiting.at(-1)?.data).toMatchObject({
      transaction,
      change_log: { reason: null, until: after(2 * WAIT_MS) },
    });
    expect(awaitsChangeLog(stateOf(waiting))).toBe(true);
    const seen = having(waiting, report());
    expect(types(seen)).toEqual(['ExecutionFinished', 'ActionWitnessed']);
    expect(witnessOf(seen)).toBe('L2 VERIFIED change_log');
    expect(stateOf(seen)).toMatchObject({ state: 'recorded', witness: { evidence_digest: evidence, diff_rows: 1 } });
  });

  it('comes with the outcome, where the log was faster', () => {
    const told = having(begun, report());
    expect(types(told)).toEqual(['WitnessReported']);
    expect(stateOf(told).state).toBe('executing');
    const both = having(told, record());
    expect(types(both)).toEqual(['WitnessReported', 'ExecutionFinished', 'ActionWitnessed']);
    expect(witnessOf(both)).toBe('L2 VERIFIED change_log');
  });

  it('is the same, whichever came first', () => {
    for (const rows of [0, 1, 2]) {
      const [one, other] = [having(begun, record(), report(rows)), having(begun, report(rows), record())];
      expect(stateOf(one).witness).toEqual(stateOf(other).witness);
    }
  });

  it('a log that shows other rows than were said is a MISMATCH', () => {
    expect(witnessOf(having(begun, record(), report(2)))).toBe('L2 MISMATCH change_log row_count');
    expect(witnessOf(having(begun, report(0), record()))).toBe('L2 MISMATCH change_log row_count');
  });

  it('a log that has passed the place of the transaction is a MISMATCH', () => {
    const absent = having(begun, record(), absence);
    expect(witnessOf(absent)).toBe('L2 MISMATCH change_log transaction_missing');
    expect(types(having(absent, absence))).toEqual(types(absent));
  });

  it('nothing is missing where nobody knows the place', () => {
    expect(types(having(begun, absence))).toEqual([]);
    expect(types(having(begun, record(unknown), absence))).toEqual(['ExecutionFinished']);
    expect(types(having(begun, record(failed), absence))).toEqual(['ExecutionFinished']);
  });

  it('is UNVERIFIABLE when its time is over, and not before', () => {
    const waiting = having(begun, record());
    given(...waiting)
      .when(giveUp(), after(2 * WAIT_MS - 1))
      .thenNothing();
    const [event] = given(...waiting)
      .when(giveUp(), after(2 * WAIT_MS))
      .events();
    expect(event?.data).toMatchObject({ level: 'L2', verdict: 'UNVERIFIABLE', reasons: ['timeout'] });
  });

  it('is UNVERIFIABLE at once when the log cannot come any more', () =>
    expect(witnessOf(having(begun, record(), giveUp('decoder_down')))).toBe('L2 UNVERIFIABLE change_log decoder_down'));

  it('nobody gives up what does not wait', () => {
    for (const events of [begun, having(begun, report()), having(begun, record(), report()), claimed]) {
      given(...events)
        .when(giveUp('decoder_down'))
        .thenNothing();
    }
  });

  it.each([
    ['VERIFIED', 1],
    ['MISMATCH', 2],
  ])('a late word amends a witness that had to do without: %s', (verdict, rows) => {
    const late = having(begun, record(), giveUp('decoder_down'), report(rows));
    expect(types(late)).toEqual(['ExecutionFinished', 'ActionWitnessed', 'WitnessAmended']);
    expect(late.at(-1)?.data).toMatchObject({ cause: 'late_witness', verdict, level: 'L2' });
    expect(stateOf(late).sealingRevision).toBe(begun.length + 1);
  });

  it('a late absence amends too, and a transaction that shows after all amends that', () => {
    const late = having(begun, record(), giveUp('decoder_down'), absence, report());
    expect(types(late)).toEqual(['ExecutionFinished', 'ActionWitnessed', 'WitnessAmended', 'WitnessAmended']);
    expect(witnessOf(late)).toBe('L2 VERIFIED change_log');
  });

  it('a word that comes again changes nothing, whenever it came first', () => {
    const first = [
      having(begun, report()),
      having(begun, report(), record()),
      having(begun, record(), report()),
      having(begun, record(), giveUp('decoder_down'), report()),
      having(begun, report(), record(failed)),
    ];
    for (const events of first) expect(having(events, report(), report(2), absence)).toEqual(events);
  });

  it('an attempt without progress has no word, and no attempt that was never made', () => {
    expect(types(having(claimed, report()), claimed)).toEqual([]);
    expect(types(having(begun, report(1, 2)))).toEqual([]);
  });

  it('an outcome without anything on record waits for nothing', () => {
    const outcome: Told = { type: 'RecordOutcome', data: { claim: 'c1', outcome: succeeded, withdrawn: null } };
    const events = having(claimed, outcome);
    expect(types(events, claimed)).toEqual(['ExecutionFinished', 'ActionWitnessed']);
    expect(witnessOf(events)).toBe('L0 VERIFIED reported');
  });

  it('a tool that no log watches keeps its own word as witness, whatever it has put on record', () => {
    const events = having([...running, progress], record(succeeded));
    expect(witnessOf(events)).toBe('L0 VERIFIED reported');
  });
});

describe('a change log and an outcome that nobody knows', () => {
  it('is verified by what was said before, without a count', () => {
    expect(witnessOf(having(begun, record(unknown), report(3)))).toBe('L2 VERIFIED change_log');
    expect(witnessOf(having(begun, report(3), record(unknown)))).toBe('L2 VERIFIED change_log');
    expect(stateOf(having(begun, record(unknown), report(3))).outcome?.status).toBe('unknown');
  });

  it('a late report of the executor never takes the place of what the log said', () => {
    const spoken = having(begun, lost(), report());
    expect(types(having(spoken, record(succeeded)))).toEqual(['ExecutionFinished', 'ActionWitnessed', 'LateReport']);
  });

  it('what the log says takes the place of a late report', () => {
    const events = having(begun, lost(), giveUp('decoder_down'), record(succeeded), report(1));
    expect(types(events).slice(-3)).toEqual(['LateReport', 'WitnessAmended', 'WitnessAmended']);
    expect(witnessOf(events)).toBe('L2 VERIFIED change_log');
  });
});

describe('a failed call that the change log shows', () => {
  it.each([
    ['before the outcome', [report(), record(failed)]],
    ['after the outcome', [record(failed), report()]],
  ])('is a MISMATCH beside the outcome, %s', (_, commands) => {
    const events = having(begun, ...commands);
    expect(typesOf(events.slice(-2))).toEqual(['ExecutionFinished', 'WitnessAmended']);
    expect(events.at(-1)?.data).toMatchObject({ cause: 'late_witness', verdict: 'MISMATCH', reasons: ['row_count'] });
    expect(stateOf(events)).toMatchObject({ state: 'recorded', outcome: { status: 'failed' } });
    expect(stateOf(events).amendedRevision).toBe(events.length - 1);
  });

  it('a transaction that changed nothing contradicts nothing', () => {
    expect(types(having(begun, record(failed), report(0)))).toEqual(['ExecutionFinished']);
    expect(types(having(begun, report(0), record(failed)))).toEqual(['WitnessReported', 'ExecutionFinished']);
  });
});

describe('a call whose executor is lost', () => {
  it('is ended by what the system itself says', () => {
    const committed = { outcome: succeeded, transaction: { ...transaction, rows: null, counts: null } };
    const events = having(begun, lost(committed));
    expect(types(events)).toEqual(['ExecutionFinished']);
    expect(events.at(-1)?.data).toMatchObject({ status: 'succeeded', transaction: committed.transaction });
    expect(witnessOf(having(events, report(3)))).toBe('L2 VERIFIED change_log');
    expect(stateOf(having(begun, lost({ outcome: failed }))).outcome).toMatchObject({ status: 'failed' });
  });

  it('is unknown where the system cannot say, and waits for the log', () => {
    for (const found of [null, { outcome: unknown }]) {
      const events = having(begun, lost(found));
      expect(stateOf(events).outcome?.status).toBe('unknown');
      expect(events.at(-1)?.data).toMatchObject({ change_log: { reason: 'executor_lost' } });
    }
  });

  it('has succeeded where the log has shown it already', () => {
    const events = having(begun, report(), lost());
    expect(stateOf(events)).toMatchObject({ outcome: { status: 'succeeded' }, witness: { verdict: 'VERIFIED' } });
  });

  it('has failed where it has put nothing on record: nothing was changed', () => {
    const events = having(claimed, lost());
    expect(stateOf(events)).toMatchObject({ outcome: { status: 'failed' }, witness: null });
  });

  it('is unknown without progress where no log watches the tool', () =>
    expect(stateOf(having(running, lost())).outcome?.status).toBe('unknown'));
});

describe('a rule that asks for level L2', () => {
  const asking = (level: 'L1' | 'L2', readyAs: ActionEvent = watched) => [
    submitted,
    decided({ ...allowed, verify: level }),
    readyAs,
    started('c1'),
  ];
  const readable: ActionEvent = { type: 'ExecutionReady', data: { ...ready().data, read_back: true } as never };
  const read = (verdict: 'VERIFIED' | 'MISMATCH'): Told => ({
    type: 'RecordReadBack',
    data: { verdict, reasons: [], evidenceDigest: null },
  });
  const outcome: Told = { type: 'RecordOutcome', data: { claim: 'c1', outcome: succeeded, withdrawn: null } };

  it.each(['L1', 'L2'] as const)('is met by a change log, and so is %s', (level) =>
    expect(witnessOf(having([...asking(level), progress], record(), report()))).toBe('L2 VERIFIED change_log'),
  );

  it('is not met by a read: the call is UNVERIFIABLE', () => {
    expect(witnessOf(having(asking('L2', readable), outcome, read('VERIFIED')))).toBe(
      'L1 UNVERIFIABLE read_back verify_level_unmet',
    );
    expect(witnessOf(having(asking('L1', readable), outcome, read('VERIFIED')))).toBe('L1 VERIFIED read_back');
  });

  it('is not met by the tool’s own word', () =>
    expect(witnessOf(having(asking('L2', ready()), outcome))).toBe('L0 UNVERIFIABLE reported verify_level_unmet'));

  it('never hides what a read contradicts', () =>
    expect(witnessOf(having(asking('L2', readable), outcome, read('MISMATCH')))).toBe('L1 MISMATCH read_back'));
});
