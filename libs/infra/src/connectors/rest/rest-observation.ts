import type { JsonObject } from '#libs/crypto';
import type { Observation } from '#libs/domain/connectors';
import { type ConfirmedTool, judgeAnswer, judgeFailure, type ReadBackPlan } from '#libs/domain/connectors/rest';
import type { EgressResponse } from '#libs/infra/egress';

import type { EndedCall } from '../http-caller.js';
import { showsWholeBody, unredactedResult } from '../http-result.js';
import { evidenceOf } from '../read-evidence.js';

/** Which write was read back, and what was expected. */
export interface Confirmation {
  readonly tool: ConfirmedTool;
  readonly args: JsonObject;
  readonly plan: ReadBackPlan;
}

/**
 * What a read says of the write. It is judged by the answer as it came, for in a redacted one two different secrets look
 * alike; what is kept as evidence is redacted.
 */
export const observationOf = async (
  { tool, args, plan }: Confirmation,
  { outcome, answer }: EndedCall,
): Promise<Observation> => {
  const judged =
    answer !== null && outcome.status === 'succeeded'
      ? judgeAnswer(tool, plan, args, await readableAnswer(answer.response))
      : judgeFailure(tool, plan, outcome.errorCode ?? 'internal_error');
  const { verdict, reasons } = judged;
  return {
    verdict,
    reasons,
    evidence: answer === null || outcome.result === null ? null : evidenceOf(outcome.result, judged, answer.redactor),
    hasAnswer: verdict !== 'UNVERIFIABLE' || reasons[0] === 'not_found',
    mayChange: verdict !== 'VERIFIED' && !FINAL_REASONS.has(reasons[0] ?? ''),
  };
};

/** Of the call itself: another attempt says the same. */
const FINAL_REASONS: ReadonlySet<string> = new Set(['validation_failed', 'nothing_compared']);

const readableAnswer = async (
  response: EgressResponse,
): Promise<{ readonly answer: JsonObject; readonly isWhole: boolean }> => {
  const answer = JSON.parse(await unredactedResult(response)) as JsonObject;
  return { answer, isWhole: showsWholeBody(answer, response) };
};
