import type { Schemas } from '../kernel/client.ts';

type Decision = NonNullable<Schemas['Action']['decision']>;

/** The fields of a decision that tell why it was made. */
export type Reason = Pick<Decision, 'outcome' | 'code' | 'source' | 'rule_id' | 'policy_version'>;

const STOPS: Readonly<Record<string, string>> = {
  org_stopped: 'all agents were stopped',
  agent_stopped: 'the agent was stopped',
  agent_suspended: 'the agent was suspended',
};

const BUILTIN: Readonly<Record<string, string>> = {
  tool_unknown: 'no connector provides this tool',
  approval_unsatisfiable: 'not enough approvers',
  approval_limit_reached: 'too many calls of the agent waited',
  policy_unavailable: 'the policy could not be evaluated',
};

/**
 * Who or what decided, in a few words: `rule no-exports`, `all agents were stopped`. A policy is named only if it
 * decided.
 */
export const decidedBecause = ({ outcome, code, source, rule_id: rule, policy_version: version }: Reason): string => {
  switch (source) {
    case 'rule':
      return `rule ${rule ?? ''}`;
    case 'default':
      if (version === null) return 'no policy was enforced';
      return outcome === 'deny' ? 'no rule allows it' : 'the policy’s default';
    case 'stop':
      return STOPS[code ?? ''] ?? 'stopped';
    case 'budget':
      return code === 'budget_exceeded' ? 'budget used up' : 'budget in a different currency';
    case 'builtin':
      return BUILTIN[code ?? ''] ?? code ?? 'the service';
  }
};

/** The reason of a row's status, if the badge alone does not tell it; else null. */
export const whyOf = ({ status, decision, execution }: Schemas['Action']): string | null => {
  switch (status) {
    case 'denied':
      if (decision === null) return null;
      return decision.outcome === 'deny' ? decidedBecause(decision) : 'by a person';
    case 'expired':
      return 'no decision in time';
    case 'failed':
      return execution?.error_code ?? null;
    default:
      return null;
  }
};
