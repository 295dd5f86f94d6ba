import { digestOf } from '#libs/crypto';
import type { CommittedTransaction, StatementSaid } from '#libs/domain/connectors';
import type { ExecutionOutcome, SeenTransaction } from '#libs/domain/gate';
import { ERROR_CATALOGUE, type ErrorCode, type Timestamp, timestampOf } from '#libs/domain/kernel';
import fc from 'fast-check';

const instant: fc.Arbitrary<Timestamp> = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(timestampOf);
const digest = fc.string().map((text) => digestOf(Buffer.from(text).toString('hex')));
const errorCode = fc.constantFrom(...(Object.keys(ERROR_CATALOGUE) as ErrorCode[]));
const orNull = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value);

const counts = { insert: fc.nat(9), update: fc.nat(9), delete: fc.nat(9), truncate: fc.nat(1) };

export const statements = (text: fc.Arbitrary<string>): fc.Arbitrary<StatementSaid> =>
  fc.record({
    xid: fc.nat().map(String),
    kind: fc.constantFrom('select', 'insert', 'update', 'delete', 'merge', 'truncate'),
    tables: fc.array(
      fc.record({
        table: text,
        kinds: fc.subarray(['insert', 'update', 'delete'] as const),
        is_partitioned: fc.boolean(),
      }),
      { maxLength: 2 },
    ),
    side_effect_tables: fc.array(text, { maxLength: 2 }),
  });

const transactions = (text: fc.Arbitrary<string>): fc.Arbitrary<CommittedTransaction> =>
  fc.record({
    xid: fc.nat().map(String),
    commit_lsn: text,
    rows: orNull(fc.nat()),
    counts: orNull(fc.array(fc.record({ table: text, ...counts }), { maxLength: 2 })),
  });

const seenTransactions = (text: fc.Arbitrary<string>): fc.Arbitrary<SeenTransaction> =>
  fc.record({
    xid: fc.nat(),
    commit_lsn: text,
    committed_at: instant,
    tables: fc.array(
      fc.record({
        ...{ table: text, ...counts },
        replica_identity: fc.constantFrom('default', 'nothing', 'full', 'index'),
      }),
      { maxLength: 2 },
    ),
    tables_left_out: fc.nat(1),
    marks: fc.nat(2),
    rows_kept: fc.nat(20),
  });

/** What the change log shows of an attempt, as members of an event. */
export const words = (text: fc.Arbitrary<string>) => ({
  attempt: fc.nat(3),
  seen: seenTransactions(text),
  postcondition: fc.constantFrom('none' as const, 'met' as const, 'failed' as const, 'unanswered' as const),
  evidence_digest: digest,
});

/** What an outcome says of the change log, if anything. */
export const waits = (text: fc.Arbitrary<string>) =>
  fc.record(
    { transaction: transactions(text), change_log: fc.record({ reason: orNull(text), until: instant }) },
    { requiredKeys: [] },
  );

export const outcomes = (text: fc.Arbitrary<string>): fc.Arbitrary<ExecutionOutcome> =>
  fc.record({
    status: fc.constantFrom('succeeded', 'failed', 'unknown'),
    error_code: orNull(errorCode),
    error_message: orNull(text),
    result_digest: orNull(digest),
    started_at: orNull(instant),
    finished_at: instant,
    latency_ms: orNull(fc.nat()),
  });
