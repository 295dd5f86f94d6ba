import type { ActionId, DomainEvent, Timestamp } from '../kernel/index.js';
import type { ActionEvent } from './action.events.js';

/** `approval`: a person has to decide by then. `edge`: the agent has to report by then. */
export type DueKind = 'approval' | 'edge';

/** An action that ends by itself when its time comes. */
export interface DueAction {
  readonly action: ActionId;
  readonly kind: DueKind;
  readonly dueAt: Timestamp;
}

export type DueActionChange =
  { readonly change: 'open'; readonly due: DueAction } | { readonly change: 'close'; readonly action: ActionId };

/**
 * The process behind the table of what comes due: whoever asks a person or an edge names a time, and whatever is said
 * by then closes it. An action waits for one of them at a time: an approval that is decided closes before the edge opens.
 */
export const dueActionChange = (event: DomainEvent): DueActionChange | null => {
  const known = event as ActionEvent;
  switch (known.type) {
    case 'ApprovalRequested':
      return opened(known.data.action, 'approval', known.data.expires_at);
    case 'EdgeAuthorized':
      return opened(known.data.action, 'edge', known.data.deadline);
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
