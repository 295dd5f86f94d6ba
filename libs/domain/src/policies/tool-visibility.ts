import type { CompiledPolicy, CompiledRule } from './compiled-policy.js';
import { coversAgent, coversTool } from './evaluate-policy.js';
import type { PolicyInput } from './policy-input.js';

/** Whether a policy denies every call of a tool to an agent. It decides nothing: a visible tool may be refused. */
export interface ToolVisibility {
  readonly visibility: 'visible' | 'hidden';
  /** The first rule that covers the tool; null where none does. */
  readonly ruleId: string | null;
  /** Short and stable, as a decision's. */
  readonly reason: string;
}

/**
 * The first rule that covers tool and agent tells (rule GATE-15). One that also looks at something of the call does not
 * deny every call, so the tool is visible.
 */
export const visibilityTo = (
  { rules, defaultOutcome }: CompiledPolicy,
  agent: PolicyInput['agent'],
): ((tool: string) => ToolVisibility) => {
  const about = rules.filter(({ match }) => coversAgent(match, agent));
  return (tool) => {
    const rule = about.find(({ match }) => coversTool(match, tool));
    if (rule === undefined) return told(defaultOutcome === 'deny', null, `default ${defaultOutcome}`);
    return told(rule.decision === 'deny' && !dependsOnCall(rule), rule.id, `rule ${rule.id}`);
  };
};

/** Where no call can be allowed, whatever is asked for. */
export const hiddenSince =
  (reason: string): ((tool: string) => ToolVisibility) =>
  () =>
    told(true, null, reason);

const told = (isHidden: boolean, ruleId: string | null, reason: string): ToolVisibility => ({
  visibility: isHidden ? 'hidden' : 'visible',
  ruleId,
  reason,
});

const dependsOnCall = ({ when, match }: CompiledRule): boolean =>
  when !== null || match.mode !== null || match.sideEffect !== null;
