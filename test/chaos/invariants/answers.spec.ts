import { describe, expect, it } from 'vitest';
import type { Evidence, LoggedEvent, Members } from '../evidence.js';
import { ACTION, answered, at, event, ORG, saidOf } from './given.js';

const TOOL = 'crm.add_note';
const STREAM = `action-${ACTION}`;
const DEED = 'deed_1';
const digest = 'sha256:00';

const begun = (outcome: 'allow' | 'deny'): readonly LoggedEvent[] => [
  event(STREAM, 'ActionSubmitted', { at: at(0), tool: TOOL, request_digest: digest }),
  event(STREAM, 'ActionDecided', { decision: { outcome } }),
];
const sealedAs = (execution: Members | null): LoggedEvent =>
  event(`ledger-${ORG}`, 'DeedSealed', {
    kind: 'action',
    action: ACTION,
    deed: DEED,
    issued_at: at(1),
    body: JSON.stringify({ chain: {}, execution }),
  });

const SUCCEEDED = { status: 'succeeded' };
const EXECUTED = [
  ...begun('allow'),
  event(STREAM, 'ExecutionStarted', {}),
  event(STREAM, 'ExecutionFinished', SUCCEEDED),
  event(STREAM, 'ActionWitnessed', { verdict: 'consistent' }),
  sealedAs(SUCCEEDED),
];
const DENIED = [...begun('deny'), sealedAs(null)];

const VIEW = {
  object: 'action',
  id: ACTION,
  tool: TOOL,
  request_digest: digest,
  created_at: at(0),
  state: 'executing',
  status: 'processing',
  decision: { outcome: 'allow' },
  execution: null,
  witness: null,
  deed: null,
};
const SEALED = {
  ...VIEW,
  state: 'sealed',
  status: 'executed',
  execution: SUCCEEDED,
  witness: { verdict: 'consistent' },
  deed: DEED,
};
const REFUSED = { ...VIEW, state: 'sealed', status: 'denied', decision: { outcome: 'deny' }, deed: DEED };
const refusalOf = (action: Members): Members => ({ error: { code: 'policy_denied', action } });

/** To a submission of the tool. */
const told = (events: readonly LoggedEvent[], json: Members): Partial<Evidence> => ({
  events,
  calls: [{ ...answered({ json }), tool: TOOL }],
});

it('says nothing of answers that tell what the log says, each as far as it was', () => {
  const witnessing = { ...VIEW, state: 'witnessing', execution: SUCCEEDED };
  const recorded = { ...SEALED, state: 'recorded', status: 'processing', deed: null };
  for (const view of [VIEW, witnessing, recorded, SEALED]) {
    expect(saidOf('INV-01', told(EXECUTED, view))).toEqual([]);
    expect(saidOf('INV-18', told(EXECUTED, view))).toEqual([]);
  }
  for (const view of [REFUSED, { ...REFUSED, state: 'recorded', deed: null }]) {
    expect(saidOf('INV-01', told(DENIED, refusalOf(view)))).toEqual([]);
    expect(saidOf('INV-18', told(DENIED, refusalOf(view)))).toEqual([]);
  }
});

describe('INV-01', () => {
  it.each([
    ['tool', 'crm.set_name'],
    ['request_digest', 'sha256:01'],
    ['created_at', at(1)],
  ])('of an answer with another %s', (member, value) => {
    expect(saidOf('INV-01', told(EXECUTED, { ...SEALED, [member]: value }))).toEqual([
      `${ACTION} had another ${member} in the answer to call 1 than in the log`,
    ]);
  });

  it('of an action of another tool than its caller sent', () => {
    const { calls = [], ...rest } = told(EXECUTED, SEALED);
    const asked = calls.map((call) => ({ ...call, tool: 'crm.set_name' }));
    expect(saidOf('INV-01', { ...rest, calls: asked })).toEqual([
      `${ACTION} is of crm.add_note, and was asked for as crm.set_name`,
    ]);
  });

  it('of a seal without a deed, a deed without a seal, and a state that is none', () => {
    expect(saidOf('INV-01', told(EXECUTED, { ...SEALED, deed: null }))).toEqual([
      `${ACTION} was sealed in the answer to call 1, with the deed null`,
    ]);
    expect(saidOf('INV-01', told(EXECUTED, { ...VIEW, deed: DEED }))).toEqual([
      `${ACTION} was executing in the answer to call 1, with the deed ${DEED}`,
    ]);
    expect(saidOf('INV-01', told(EXECUTED, { ...VIEW, state: 'done' }))).toEqual([
      `${ACTION} was "done" in the answer to call 1, which is no state`,
    ]);
  });
});

describe('INV-18', () => {
  const was = (member: string, says: string, is: string): string =>
    `${ACTION} was sealed with ${member} ${says} in the answer to call 1; by the log it is ${is}`;

  it('of an answer that calls failed, without an execution, what succeeded', () => {
    expect(saidOf('INV-18', told(EXECUTED, { ...SEALED, status: 'failed', execution: null }))).toEqual([
      was('status', 'failed', 'executed'),
      was('execution.status', 'none', 'succeeded'),
    ]);
  });

  it('of an answer that calls denied what was executed', () => {
    expect(saidOf('INV-18', told(EXECUTED, { ...SEALED, status: 'denied', decision: { outcome: 'deny' } }))).toEqual([
      was('status', 'denied', 'executed'),
      was('decision.outcome', 'deny', 'allow'),
    ]);
  });

  it('of an answer with another verdict, or an end before its state', () => {
    expect(saidOf('INV-18', told(EXECUTED, { ...SEALED, witness: { verdict: 'contradicted' } }))).toEqual([
      was('witness.verdict', 'contradicted', 'consistent'),
    ]);
    expect(saidOf('INV-18', told(EXECUTED, { ...VIEW, status: 'executed' }))).toEqual([
      `${ACTION} was executing with status executed in the answer to call 1; by the log it is processing`,
    ]);
  });

  it('not of a verdict that was amended', () => {
    const amended = [...EXECUTED, event(STREAM, 'WitnessAmended', { verdict: 'contradicted' })];
    for (const verdict of ['consistent', 'contradicted']) {
      expect(saidOf('INV-18', told(amended, { ...SEALED, witness: { verdict } }))).toEqual([]);
    }
    expect(saidOf('INV-04', { events: amended })).toContain(`${ACTION} was amended 1 times and has 0 deeds of that`);
  });

  it('of a row or an answer that stands between a submission and its decision', () => {
    const half = { ...VIEW, decision: null };
    for (const json of [half, { object: 'list', data: [half] }]) {
      expect(saidOf('INV-18', told(EXECUTED, json))).toEqual([
        `${ACTION} was executing with decision.outcome none in the answer to call 1; by the log it is allow`,
      ]);
    }
  });

  it('of an execution that was answered with a refusal, and a refusal that was not', () => {
    expect(saidOf('INV-18', told(EXECUTED, refusalOf(SEALED)))).toEqual([
      `${ACTION} was refused by the answer to call 1, and is not by the log`,
    ]);
    expect(saidOf('INV-18', told(DENIED, REFUSED))).toEqual([
      `${ACTION} was not refused by the answer to call 1, and is by the log`,
    ]);
  });
});
