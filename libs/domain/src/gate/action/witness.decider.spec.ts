import { describe, expect, it } from 'vitest';
import { after, givenFor } from '../../../../../test/support/given.js';
import {
  ACTION,
  allowed,
  decided,
  failed,
  finished,
  ready,
  running,
  started,
  submitted,
  succeeded,
  typesOf,
} from '../../../../../test/support/gate-fixtures.js';
import { digestOf } from '#libs/crypto';
import { actionDecider } from './action.decider.js';
import type { ActionEvent, ExecutionOutcome } from './action.events.js';

const given = givenFor(actionDecider);

describe('the witness of an outcome', () => {
  const record = (outcome = succeeded) =>
    ({ type: 'RecordOutcome', data: { claim: 'c1', outcome, withdrawn: null } }) as const;

  it('success comes with the tool’s own word as witness', () => {
    const events = given(...running)
      .when(record())
      .events();
    expect(typesOf(events)).toEqual(['ExecutionFinished', 'ActionWitnessed']);
    expect(events[1]?.data).toMatchObject({ level: 'L0', verdict: 'VERIFIED', method: 'reported' });
  });

  it('a failed call has no witness', () =>
    given(...running)
      .when(record(failed))
      .then(finished(failed, 'c1')));

  it('an unknown outcome is UNVERIFIABLE', () => {
    const unknown = { ...succeeded, status: 'unknown' as const, error_code: 'timeout' as const };
    const [, witness] = given(...running)
      .when(record(unknown))
      .events();
    expect(witness?.data).toMatchObject({ verdict: 'UNVERIFIABLE', method: 'none', reasons: ['timeout'] });
  });

  it('the witness is the sealing event of a call that ran, the outcome that of one that did not', () => {
    const ran = [
      ...running,
      ...given(...running)
        .when(record())
        .events(),
    ];
    expect(given(...ran).state).toMatchObject({ state: 'recorded', sealingRevision: 5 });
    expect(given(...running, finished(failed, 'c1')).state).toMatchObject({ state: 'recorded', sealingRevision: 4 });
  });
});

const digest = digestOf('evidence');
const unknown: ExecutionOutcome = { ...succeeded, status: 'unknown', error_code: 'timeout', result_digest: null };

const readyToRead = ready();
if (readyToRead.type === 'ExecutionReady') readyToRead.data.read_back = true;
const runningToRead = [submitted, decided(allowed), readyToRead, started('c1')];

const record = (outcome: ExecutionOutcome) =>
  ({ type: 'RecordOutcome', data: { claim: 'c1', outcome, withdrawn: null } }) as const;

const readBack = (verdict: 'VERIFIED' | 'MISMATCH' | 'UNVERIFIABLE', ...reasons: readonly string[]) =>
  ({ type: 'RecordReadBack', data: { verdict, reasons, evidenceDigest: digest } }) as const;

/** The action's events after each command was decided in turn. */
const having = (
  events: readonly ActionEvent[],
  ...commands: readonly Parameters<ReturnType<typeof given>['when']>[0][]
): readonly ActionEvent[] =>
  commands.reduce(
    (all, command) => [
      ...all,
      ...given(...all)
        .when(command)
        .events(),
    ],
    events,
  );

describe('the witness of a tool that is read back', () => {
  it('an outcome that may have had its effect waits for the read', () => {
    const events = given(...runningToRead)
      .when(record(succeeded))
      .events();
    expect(typesOf(events)).toEqual(['ExecutionFinished']);
    expect(events[0]?.data).toMatchObject({ read_back: { reason: null } });
    expect(given(...runningToRead, ...events).state).toMatchObject({ state: 'witnessing', witness: null });
  });

  it('a failed call waits for no read', () => {
    const events = given(...runningToRead)
      .when(record(failed))
      .events();
    expect(events).toEqual([finished(failed, 'c1')]);
    expect(given(...runningToRead, ...events).state).toMatchObject({ state: 'recorded', witness: null });
  });

  it.each(['VERIFIED', 'MISMATCH', 'UNVERIFIABLE'] as const)('%s is recorded at L1 with its evidence', (verdict) => {
    const events = having(runningToRead, record(succeeded), readBack(verdict, 'body.amount'));
    expect(events.at(-1)?.data).toMatchObject({
      level: 'L1',
      method: 'read_back',
      verdict,
      reasons: ['body.amount'],
      evidence_digest: digest,
    });
    expect(given(...events).state).toMatchObject({ state: 'recorded', sealingRevision: 5, amendedRevision: null });
  });

  it('an unknown outcome stays unknown, whatever the read shows', () => {
    const verified = having(runningToRead, record(unknown), readBack('VERIFIED'));
    expect(given(...verified).state).toMatchObject({
      outcome: { status: 'unknown' },
      witness: { verdict: 'VERIFIED', reasons: [] },
    });
    const open = having(runningToRead, record(unknown), readBack('UNVERIFIABLE', 'not_found'));
    expect(given(...open).state).toMatchObject({ witness: { reasons: ['timeout', 'not_found'] } });
  });

  it('says why an executor that was lost left it unknown', () => {
    const giveUp = {
      type: 'GiveUpExecution',
      data: { claim: 'c1', isExecutorSilent: true, isPastDeadline: true },
    } as const;
    const events = having(runningToRead, giveUp, readBack('UNVERIFIABLE', 'result_missing'));
    expect(given(...events).state).toMatchObject({ witness: { reasons: ['executor_lost', 'result_missing'] } });
  });

  it('holds no more and no longer reasons than a deed does', () => {
    const paths = Array.from({ length: 33 }, (_, index) => `body.${'x'.repeat(300)}${index}`);
    const [witness] = having(runningToRead, record(succeeded), readBack('MISMATCH', 'a', ...paths)).slice(-1);
    const { reasons, summary } = (witness as Extract<ActionEvent, { type: 'ActionWitnessed' }>).data;
    expect(reasons.length).toBeLessThanOrEqual(32);
    expect(Math.max(...reasons.map((reason) => reason.length))).toBe(256);
    expect(summary).toContain('and 31 more');
  });

  it('of several readers the first one makes the witness', () => {
    const read = having(runningToRead, record(succeeded), readBack('MISMATCH', 'body.a'));
    for (const later of [readBack('VERIFIED'), readBack('MISMATCH', 'body.b'), readBack('UNVERIFIABLE', 'timeout')]) {
      given(...read)
        .when(later)
        .thenNothing();
    }
  });

  it('a late reading amends an UNVERIFIABLE witness', () => {
    const read = having(runningToRead, record(succeeded), readBack('UNVERIFIABLE', 'timeout'));
    given(...read)
      .when(readBack('UNVERIFIABLE', 'upstream_error'))
      .thenNothing();
    const late = having(read, readBack('VERIFIED'));
    expect(late.at(-1)).toMatchObject({ type: 'WitnessAmended', data: { cause: 'late_read', level: 'L1' } });
    expect(given(...late).state).toMatchObject({
      sealingRevision: 5,
      amendedRevision: 6,
      witness: { verdict: 'VERIFIED' },
    });
    given(...late)
      .when(readBack('MISMATCH', 'body.a'))
      .thenNothing();
  });

  it('no read is recorded if none is awaited', () => {
    given(...runningToRead)
      .when(readBack('VERIFIED'))
      .thenNothing();
    given(...having(running, record(unknown)))
      .when(readBack('VERIFIED'))
      .thenNothing();
  });
});

describe('a witness that the policy asks for', () => {
  const asking = [submitted, decided({ ...allowed, verify: 'L1' })];

  it('is not the word of a tool that cannot be read back', () => {
    const events = having([...asking, ready(), started('c1')], record(succeeded));
    expect(events.at(-1)?.data).toMatchObject({
      level: 'L0',
      verdict: 'UNVERIFIABLE',
      method: 'reported',
      reasons: ['verify_level_unmet'],
    });
    const open = having([...asking, ready(), started('c1')], record(unknown));
    expect(open.at(-1)?.data).toMatchObject({ reasons: ['timeout', 'verify_level_unmet'] });
  });

  it('is the read of one that can', () => {
    const events = having([...asking, readyToRead, started('c1')], record(succeeded), readBack('VERIFIED'));
    expect(events.at(-1)?.data).toMatchObject({ level: 'L1', verdict: 'VERIFIED', reasons: [] });
  });

  it('is not the word of an agent that ran the tool itself', () => {
    const atTheEdge: ActionEvent = {
      type: 'EdgeAuthorized',
      data: { action: ACTION, deadline: after(60_000), at: after(0) },
    };
    const report = { status: 'succeeded', started_at: after(0), finished_at: after(1), result_digest: digest } as const;
    const events = having([...asking, atTheEdge], {
      type: 'ReportEdge',
      data: { report: { ...report, has_result: true, error_code: null, error_message: null } },
    });
    expect(events.at(-1)?.data).toMatchObject({ verdict: 'UNVERIFIABLE', reasons: ['verify_level_unmet'] });
  });
});

describe('an amended witness', () => {
  const ask = {
    type: 'AmendWitness',
    data: { verdict: 'MISMATCH', reasons: ['body.a'], evidenceDigest: digest },
  } as const;

  it('a person may ask for it as often as they like, once the action has one', () => {
    const read = having(runningToRead, record(succeeded), readBack('VERIFIED'));
    const amended = having(read, ask, ask);
    expect(typesOf(amended).slice(-2)).toEqual(['WitnessAmended', 'WitnessAmended']);
    expect(given(...amended).state).toMatchObject({
      state: 'recorded',
      sealingRevision: 5,
      amendedRevision: 7,
      witness: { verdict: 'MISMATCH', reasons: ['body.a'] },
    });
  });

  it('is refused before there is a witness, and if nothing ran', () => {
    given(...runningToRead)
      .when(ask)
      .thenRefuses('conflict');
    given(...having(runningToRead, record(succeeded)))
      .when(ask)
      .thenRefuses('conflict');
    given(...having(runningToRead, record(failed)))
      .when(ask)
      .thenRefuses('conflict');
    given(submitted, decided({ ...allowed, outcome: 'deny', code: 'policy_denied' }))
      .when(ask)
      .thenRefuses('conflict');
  });

  it('comes with the report of an executor that was given up', () => {
    const lost = having(running, record(unknown), record(succeeded));
    expect(typesOf(lost).slice(-2)).toEqual(['LateReport', 'WitnessAmended']);
    expect(lost.at(-1)?.data).toMatchObject({
      cause: 'late_report',
      level: 'L0',
      verdict: 'VERIFIED',
      reasons: ['late_report'],
      evidence_digest: succeeded.result_digest,
    });
    expect(given(...lost).state).toMatchObject({ outcome: { status: 'unknown' } });
    expect(typesOf(having(lost, record(succeeded)).slice(-1))).toEqual(['LateReport']);
  });

  it('takes a late report of failure only if there was one attempt', () => {
    const lost = having(running, record(unknown), record(failed));
    expect(lost.at(-1)?.data).toMatchObject({
      verdict: 'UNVERIFIABLE',
      reasons: ['late_report', 'upstream_not_found'],
    });
    const twice = [...running, started('c2', 2), finished(unknown, 'c2', 2)];
    expect(typesOf(having(twice, record(failed)).slice(-1))).toEqual(['LateReport']);
  });

  describe('comes at once with a witness that says less than a late report before it', () => {
    const late = (status: 'succeeded' | 'failed'): ActionEvent => {
      const outcome = status === 'succeeded' ? succeeded : failed;
      return { type: 'LateReport', data: { ...outcome, action: ACTION, attempt: 1, claim: 'c1', at: after(5) } };
    };
    const unread = [...having(runningToRead, record(unknown)), late('succeeded')];

    it('of a read that could not say anything', () => {
      const events = having(unread, readBack('UNVERIFIABLE', 'timeout'));
      expect(typesOf(events).slice(-2)).toEqual(['ActionWitnessed', 'WitnessAmended']);
      expect(events.at(-2)?.data).toMatchObject({ level: 'L1', verdict: 'UNVERIFIABLE', method: 'read_back' });
      const inOtherOrder = having(
        runningToRead,
        record(unknown),
        readBack('UNVERIFIABLE', 'timeout'),
        record(succeeded),
      );
      expect(events.at(-1)?.data).toEqual(inOtherOrder.at(-1)?.data);
      expect(given(...events).state).toMatchObject({
        state: 'recorded',
        outcome: { status: 'unknown' },
        witness: { level: 'L0', verdict: 'VERIFIED', reasons: ['late_report'] },
        sealingRevision: 6,
        amendedRevision: 7,
      });
      given(...events)
        .when(readBack('VERIFIED'))
        .thenNothing();
    });

    it.each(['VERIFIED', 'MISMATCH'] as const)('and not of a read that says %s', (verdict) => {
      const events = having(unread, readBack(verdict));
      expect(typesOf(events).slice(-2)).toEqual(['LateReport', 'ActionWitnessed']);
      expect(given(...events).state).toMatchObject({ witness: { level: 'L1', verdict } });
    });

    it('of a tool that is not read, whose first attempt reports while a second one goes on', () => {
      const twice = [...running, started('c2', 2), late('succeeded')];
      const lost = having(twice, {
        type: 'GiveUpExecution',
        data: { claim: 'c2', isExecutorSilent: true, isPastDeadline: true },
      });
      expect(typesOf(lost).slice(-3)).toEqual(['ExecutionFinished', 'ActionWitnessed', 'WitnessAmended']);
      expect(given(...lost).state).toMatchObject({ witness: { verdict: 'VERIFIED', reasons: ['late_report'] } });
      const known = having(twice, {
        type: 'RecordOutcome',
        data: { claim: 'c2', outcome: succeeded, withdrawn: null },
      });
      expect(typesOf(known).slice(-2)).toEqual(['ExecutionFinished', 'ActionWitnessed']);
    });

    it('and takes a late report of failure if there was one attempt', () => {
      const refused = [...having(runningToRead, record(unknown)), late('failed'), late('succeeded')];
      expect(given(...having(refused, readBack('UNVERIFIABLE', 'timeout'))).state).toMatchObject({
        witness: { verdict: 'UNVERIFIABLE', reasons: ['late_report', 'upstream_not_found'] },
      });
    });

    it('never by a report without a claim', () => {
      const foreign = { ...late('succeeded'), data: { ...late('succeeded').data, claim: 'c9' } } as ActionEvent;
      const events = having([...having(runningToRead, record(unknown)), foreign], readBack('UNVERIFIABLE', 'timeout'));
      expect(typesOf(events).slice(-1)).toEqual(['ActionWitnessed']);
    });
  });

  it('is not made by a late report that says nothing new', () => {
    expect(typesOf(having(running, record(unknown), record(unknown)).slice(-1))).toEqual(['LateReport']);
    expect(typesOf(having(running, record(succeeded), record(succeeded)).slice(-1))).toEqual(['LateReport']);
    const read = having(runningToRead, record(unknown), readBack('MISMATCH', 'body.a'), record(succeeded));
    expect(typesOf(read.slice(-1))).toEqual(['LateReport']);
  });

  it('never stands before the witness that it amends', () => {
    const early: ActionEvent = {
      type: 'WitnessAmended',
      data: { ...(having(running, record(succeeded)).at(-1)?.data as object), cause: 'asked' } as never,
    };
    expect(given(...running, early).state).toMatchObject({ state: 'executing', witness: null, amendedRevision: null });
  });
});
