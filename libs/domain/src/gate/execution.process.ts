import type { ConnectorId, DomainEvent, OrgId } from '../kernel/index.js';
import type { ActionEvent } from './action.events.js';

/** An execution that is neither over nor refused, its read-back included: what the crash-recovery sweeper looks through. */
export interface OpenExecution {
  readonly action: string;
  readonly org: OrgId;
  readonly connector: ConnectorId | null;
}

export type OpenExecutionChange =
  | { readonly change: 'open'; readonly execution: OpenExecution }
  | { readonly change: 'close'; readonly action: string };

/**
 * The process behind the sweeper's own table: every accepted action opens, every end closes. A refusal opens and closes
 * in one append, and a batch cancels most pairs before they are written. What waits for a person or for an edge is no
 * execution: it closes, and opens again when a person's yes makes it ready.
 */
export const openExecutionChange = (event: DomainEvent): OpenExecutionChange | null => {
  const known = event as ActionEvent;
  switch (known.type) {
    case 'ActionSubmitted': {
      const { action, org, connector } = known.data;
      return { change: 'open', execution: { action, org, connector } };
    }
    case 'ActionDecided':
      return known.data.decision.outcome === 'deny' ? { change: 'close', action: known.data.action } : null;
    case 'ExecutionReady': {
      // Named where an approval made it ready; one that was ready at once is open since its submission.
      const { action, org, connector } = known.data;
      return org === undefined ? null : { change: 'open', execution: { action, org, connector: connector ?? null } };
    }
    case 'ApprovalRequested':
    case 'EdgeAuthorized':
      return { change: 'close', action: known.data.action };
    case 'ExecutionFinished':
      // What is to be read back stays open until somebody has read it.
      return known.data.read_back === undefined ? { change: 'close', action: known.data.action } : null;
    case 'ActionWitnessed':
      return known.data.method === 'read_back' ? { change: 'close', action: known.data.action } : null;
    default:
      return null;
  }
};
