import { expect, it } from 'vitest';
import type { Members } from '../evidence.js';
import { ACTION, event, saidOf } from './given.js';

const STREAM = `action-${ACTION}`;
const UNKNOWN = { level: 'L0', verdict: 'UNVERIFIABLE', method: 'none', summary: 'Nobody can say.', diff_rows: 0 };
const LATE = { level: 'L0', verdict: 'VERIFIED', method: 'reported', summary: 'It said so late.', diff_rows: 0 };
const OUTCOME = { status: 'unknown', started_at: null, finished_at: null, error_code: 'timeout', error_message: null };

const EXECUTION = {
  status: 'unknown',
  attempts: 0,
  started_at: null,
  finished_at: null,
  latency_ms: null,
  error_code: 'timeout',
  error_message: null,
};

const row = (witness: Members): Members => ({
  id: ACTION,
  state: 'recorded',
  status: 'processing',
  created_at: 'then',
  deed: null,
  execution: EXECUTION,
  witness,
});

/** What is said of the list of actions that shows this witness, of an action whose witness was amended. */
const listed = (witness: Members): readonly string[] => {
  const events = [
    event(STREAM, 'ActionSubmitted', { at: 'then' }),
    event(STREAM, 'ActionDecided', { decision: { outcome: 'allow' } }),
    event(STREAM, 'ExecutionFinished', { ...OUTCOME, latency_ms: null }),
    event(STREAM, 'ActionWitnessed', UNKNOWN),
    event(STREAM, 'WitnessAmended', LATE),
  ];
  const rows = [row(witness)];
  return saidOf('INV-10', { events, rows: { actions: { before: rows, after: rows } } });
};

it('INV-10: a row shows the newest witness of its action', () => {
  expect(listed(LATE)).toEqual([]);
  const fault = `${ACTION} has witness ${JSON.stringify(UNKNOWN)} in the list of actions, and the log says ${JSON.stringify(LATE)}`;
  expect(listed(UNKNOWN)).toEqual([fault, fault]);
});
