import type { ConnectorId, DomainEvent, OrgId } from '../kernel/index.js';
import type { ActionEvent } from './action.events.js';

/** An execution that is neither finished nor refused: what the crash-recovery sweeper looks through. */
export interface OpenExecution {
  readonly action: string;
  readonly org: OrgId;
  readonly connector: ConnectorId | null;
}

export type OpenExecutionChange =
  | { readonly change: 'open'; readonly execution: OpenExecution }
  | { readonly change: 'close'; readonly action: string };

/**
 * The process behind the sweeper's own table (architecture, step 7): every accepted action opens, every end closes. A
 * refusal opens and closes in one append, and a batch cancels most pairs before they are written.
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
    case 'ExecutionFinished':
      return { change: 'close', action: known.data.action };
    default:
      return null;
  }
};
