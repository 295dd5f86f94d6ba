import { statusOf, type LivingAction } from './action.state.js';

/** What an action is counted by, wherever it is counted: by the hour as events come, and in parts of hours when somebody asks. */
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
