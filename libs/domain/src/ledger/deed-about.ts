import type { DeedBody } from '#libs/crypto';
import type { AgentId } from '../kernel/index.js';

/** How an action ended, in one word: by the person who was asked, by the policy, or else by the tool. */
type DeedOutcome = 'denied' | 'expired' | 'cancelled' | NonNullable<DeedBody['execution']>['status'];

/** What a deed is about, for lists of deeds. It says nothing that the deed's bytes do not say. */
export type DeedAbout =
  | {
      readonly tool: string;
      /** The agent that submitted the action. */
      readonly agent: AgentId | null;
      /** Null if the deed has no decision and no execution, as an amendment may. */
      readonly outcome: DeedOutcome | null;
      readonly level: NonNullable<DeedBody['witness']>['level'] | null;
      readonly verdict: NonNullable<DeedBody['witness']>['verdict'] | null;
    }
  | {
      /** What was done, as in `agent.stopped`. */
      readonly admin: string;
      readonly target: { readonly type: string; readonly id: string };
    };

export const aboutOf = (body: DeedBody): DeedAbout | null => {
  const { action, admin, who, witness } = body;
  if (admin !== null) return { admin: admin.action, target: { ...admin.target } };
  if (action === null) return null;
  return {
    tool: action.tool,
    agent: who.agent as AgentId | null,
    outcome: outcomeOf(body),
    level: witness?.level ?? null,
    verdict: witness?.verdict ?? null,
  };
};

const outcomeOf = ({ approval, policy, execution }: DeedBody): DeedOutcome | null => {
  if (approval !== null && approval.status !== 'approved') return approval.status;
  if (policy?.outcome === 'deny') return 'denied';
  return execution?.status ?? null;
};
