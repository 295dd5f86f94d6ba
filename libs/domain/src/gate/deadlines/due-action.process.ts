import type { ActionId, DomainEvent, Timestamp } from '../../kernel/index.js';
import type { ActionEvent } from '../action/index.js';

/**
 * What is due at that time. `approval`: a person's decision. `edge`: the agent's report. `witness`: the change log's word.
 */
export type DueKind = 'approval' | 'edge' | 'witness';

/** An action that the sweeper ends if nothing happens by `dueAt`. */
export interface DueAction {
  readonly action: ActionId;
  readonly kind: DueKind;
  readonly dueAt: Timestamp;
}

export type DueActionChange =
  { readonly change: 'open'; readonly due: DueAction } | { readonly change: 'close'; readonly action: ActionId };

/**
 * How an event changes the table of due actions: a request for approval or an authorization at the edge opens a row
 * with its deadline, and the decision or report closes it. So does an outcome whose witness waits for the change log. An
 * action has at most one row, because its approval closes before anything runs, and what runs at the edge is in no log.
 */
export const dueActionChange = (event: DomainEvent): DueActionChange | null => {
  const known = event as ActionEvent;
  switch (known.type) {
    case 'ApprovalRequested':
      return opened(known.data.action, 'approval', known.data.expires_at);
    case 'EdgeAuthorized':
      return opened(known.data.action, 'edge', known.data.deadline);
    case 'ExecutionFinished': {
      const { action, change_log } = known.data;
      return change_log === undefined ? null : opened(action, 'witness', change_log.until);
    }
    case 'ActionWitnessed':
      return known.data.method === 'change_log' ? { change: 'close', action: known.data.action } : null;
    case 'ApprovalDecided':
    case 'ApprovalExpired':
    case 'ActionCancelled':
    case 'EdgeReported':
    case 'EdgeLost':
      return { change: 'close', action: known.data.action };
    default:
      return null;
  }
};

const opened = (action: ActionId, kind: DueKind, dueAt: Timestamp): DueActionChange => ({
  change: 'open',
  due: { action, kind, dueAt },
});
