import type { Schemas } from '../kernel/client.ts';
import type { Shown, ShownApproval, Stands } from '../ledger/this-page.ts';

type ActionDetail = Schemas['ActionDetail'];

/** Whether a value is the mark that stands for a body which retention removed. */
export const isRemoved = (value: unknown): value is Schemas['RemovedBody'] =>
  typeof value === 'object' && value !== null && 'removed' in value && Object.keys(value).length === 1;

/** How the page shows a body: its value, or why there is none. */
const stands = (value: unknown): Stands => {
  if (value === null || value === undefined) return { absent: 'none' };
  return isRemoved(value) ? { absent: 'removed' } : { value };
};

const argumentsIn = (request: ActionDetail['request']): Stands =>
  request === null || isRemoved(request) ? stands(request) : { value: request.args ?? {} };

const peopleOf = (approval: Schemas['Approval'] | null): ShownApproval | null =>
  approval === null || approval.status === 'pending'
    ? null
    : {
        decided_at: approval.decided_at,
        decided_by: approval.decided_by,
        signed: (approval.approvers ?? []).flatMap(({ user, countersigned_at: at }) =>
          at === null ? [] : [{ by: user, at }],
        ),
      };

/**
 * What the page of an action shows, in a form to compare with its deed.
 * @param id the id in the address
 * @param approval null while it is loading, and if there is none
 */
export const shownOf = (id: string, action: ActionDetail, approval: Schemas['Approval'] | null): Shown => {
  const { request, decision, execution, witness } = action;
  return {
    id,
    action: action.id,
    tool: action.tool,
    agent: action.agent.id,
    on_behalf_of: action.on_behalf_of,
    session: action.session,
    livemode: action.livemode,
    mode: action.mode,
    created_at: action.created_at,
    request_digest: action.request_digest,
    status: action.status,
    decision: decision && { ...decision },
    approval: action.approval,
    people: peopleOf(approval),
    execution: execution && { ...execution },
    witness: witness && { ...witness },
    args: argumentsIn(request),
    result: stands(action.result),
    evidence: stands(witness?.detail),
  };
};

/** The id of the newest amendment deed, whose verdict the page shows; null if there is none. */
export const newestAmendment = ({ deeds }: ActionDetail): string | null =>
  deeds.filter(({ kind }) => kind === 'amendment').toSorted((one, other) => (other.seq ?? 0) - (one.seq ?? 0))[0]?.id ??
  null;
