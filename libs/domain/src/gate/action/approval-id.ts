import { parseId, type ActionId, type ApprovalId } from '../../kernel/index.js';

/**
 * The id of an action's approval: the action's own 128 bits under the prefix `apr_`, because an action has at most one
 * approval. So an approval's id leads straight to its action's stream, without a lookup table that could lag behind.
 */
export const approvalOf = (action: ActionId): ApprovalId => `apr_${action.slice(PREFIX_LENGTH)}` as ApprovalId;

/** The action that an approval belongs to; neither of them need exist. Null if `text` is not an approval id. */
export const actionOfApproval = (text: string): ActionId | null =>
  parseId('apr', text) === null ? null : parseId('act', `act_${text.slice(PREFIX_LENGTH)}`);

/** The length of `act_` and of `apr_`. */
const PREFIX_LENGTH = 4;
