import type { DeedBody } from '#libs/crypto';
import type { AgentId } from '../kernel/index.js';

/** What came of an action, in one word: of the person who was asked, of the policy, else of the tool. */
type DeedOutcome = 'denied' | 'expired' | 'cancelled' | NonNullable<DeedBody['execution']>['status'];

/** What a deed is about, for whoever looks through many: nothing that its bytes do not say. */
export type DeedAbout =
  | {
      readonly tool: string;
      /** Whose action it is. */
      readonly agent: AgentId | null;
      /** Null where the deed tells of no decision and no execution, as an amendment may. */
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
