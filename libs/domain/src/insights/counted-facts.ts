import { statusOf, type LivingAction } from '../gate/index.js';

/**
 * The facts by which an action is counted: in the projection of hourly counts, and when a caller asks for counts of a
 * part of an hour.
 */
export const countedFacts = (action: LivingAction, isSealed: boolean) => ({
  agent: action.submission.agent,
  tool: action.submission.tool,
  decision: action.decision?.outcome ?? null,
  source: action.decision?.source ?? null,
  ruleId: action.decision?.rule_id ?? null,
  status: statusOf(action, isSealed),
  execution: action.outcome?.status ?? null,
  verdict: action.witness?.verdict ?? null,
  level: action.witness?.level ?? null,
});
