import { describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import {
  ACTION,
  allowed,
  answerOf,
  decided,
  decidedBy,
  edgeReported,
  edgeSucceeded,
  finished,
  ready,
  signedBy,
  started,
  submitted,
  succeeded,
  userId,
} from '../../../../../test/support/gate-fixtures.js';
import { NOW } from '../../../../../test/support/given.js';
import type { ActionEvent } from '../action/index.js';
import { payloadNamedBy, payloadsNamedBy } from './named-payload.js';

const result = digestOf('the answer');
const late = (digest: typeof result | null): ActionEvent => ({
  type: 'LateReport',
  data: { ...succeeded, result_digest: digest, action: ACTION, attempt: 1, claim: 'a', at: NOW },
});

describe('a payload is named', () => {
  it('the policy input by the submission', () =>
    expect(payloadNamedBy(submitted)).toEqual({ kind: 'policy_input', digest: digestOf('fixture') }));
  it('a result by the outcome', () =>
    expect(payloadNamedBy(finished({ ...succeeded, result_digest: result }, 'a'))).toEqual({
      kind: 'result',
      digest: result,
    }));
  it('a result by a late report too: it is evidence', () =>
    expect(payloadNamedBy(late(result))).toEqual({ kind: 'result', digest: result }));

  it('a result by the report of an edge that sent it', () =>
    expect(payloadNamedBy(edgeReported({ ...edgeSucceeded, result_digest: result }))).toEqual({
      kind: 'result',
      digest: result,
    }));

  it('what a passkey signed by the decision, beside what the person was shown', () => {
    const anna = userId(1);
    const context = { kind: 'approval_context', digest: digestOf('fixture') };
    const assertion = { kind: 'assertion', digest: result };
    const signed = answerOf(anna, { assertion_digest: result });
    expect(payloadsNamedBy(signedBy(signed))).toEqual([context, assertion]);
    expect(payloadsNamedBy(decidedBy(signed, 'denied'))).toEqual([context, assertion]);
    expect(payloadsNamedBy(signedBy(answerOf(anna)))).toEqual([context]);
    expect(payloadsNamedBy(submitted)).toEqual([payloadNamedBy(submitted)]);
    expect(payloadsNamedBy(ready())).toEqual([]);
  });

  it('nobody knows by what by an event of a newer version', () =>
    expect(payloadsNamedBy({ type: 'ActionDreamt', data: {} } as unknown as ActionEvent)).toBeUndefined());

  it.each<[string, ActionEvent]>([
    ['an outcome without a result', finished({ ...succeeded, result_digest: null }, 'a')],
    ['a late report without a result', late(null)],
    ['the report of an edge that keeps the result', edgeReported({ ...edgeSucceeded, has_result: false })],
    ['the report of an edge that has none', edgeReported({ ...edgeSucceeded, result_digest: null, has_result: false })],
    ['a decision', decided(allowed)],
    ['an execution that is ready', ready()],
    ['a claim', started('a')],
    ['an abandoned submission', { type: 'SubmissionAbandoned', data: { action: ACTION, at: NOW } }],
  ])('not by %s', (_, event) => expect(payloadNamedBy(event)).toBeNull());
});
