import { parseId, type ActionId, type ApprovalId } from '../kernel/index.js';

/**
 * The approval of an action: the action's own 128 bits under another prefix, since an action has at most one. So whoever
 * reads an approval reads its action's stream, and no table that could be behind has a say in which one that is.
 */
export const approvalOf = (action: ActionId): ApprovalId => `apr_${action.slice(PREFIX_LENGTH)}` as ApprovalId;

/** The action that an approval is about, whether or not either exists. Null where `text` is the id of no approval. */
export const actionOfApproval = (text: string): ActionId | null =>
  parseId('apr', text) === null ? null : parseId('act', `act_${text.slice(PREFIX_LENGTH)}`);

/** Of `act_` and of `apr_`. */
const PREFIX_LENGTH = 4;
