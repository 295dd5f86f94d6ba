import { type Action, approvalOf } from '#libs/domain/gate';
import type { DeedId } from '#libs/domain/kernel';
import type { ApprovalRow } from '#libs/infra/read-models';

/** The row of GET /v1/approvals for an action about which people were asked; none for any other. */
export const approvalRowsOf = (action: Action, deed: DeedId | null): readonly ApprovalRow[] => {
  if (action.state === 'none' || action.state === 'abandoned' || action.approval === null) return [];
  const { submission, approval } = action;
  return [
    {
      id: approvalOf(submission.action),
      org: submission.org,
      action: submission.action,
      agent: submission.agent,
      tool: submission.tool,
      status: approval.status,
      expiresAt: approval.terms.expires_at,
      deed,
      folded: action,
    },
  ];
};
