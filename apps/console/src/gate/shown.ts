import type { Schemas } from '../kernel/client.ts';
import type { Shown, ShownApproval, Stands } from '../ledger/this-page.ts';

type ActionDetail = Schemas['ActionDetail'];

/** What stands for a body whose days are over. */
export const isRemoved = (value: unknown): value is Schemas['RemovedBody'] =>
  typeof value === 'object' && value !== null && 'removed' in value && Object.keys(value).length === 1;

/** A body of the action as it stands on the page. */
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
 * What stands on the page of an action, to be compared with its deed.
 * @param id of the address
 * @param approval null while it was not read, and where there is none
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

/** Of a verdict that came after the deed: the newest, whose verdict stands on the page. */
export const newestAmendment = ({ deeds }: ActionDetail): string | null =>
  deeds.filter(({ kind }) => kind === 'amendment').toSorted((one, other) => (other.seq ?? 0) - (one.seq ?? 0))[0]?.id ??
  null;
