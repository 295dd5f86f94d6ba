import type { ConnectorId, DomainEvent, OrgId } from '../../kernel/index.js';
import { type ActionEvent, courseOf } from '../action/index.js';

/** An execution that has not ended; its read-back, or the change log's word, is part of it. The crash-recovery sweeper reads the list of these. */
export interface OpenExecution {
  readonly action: string;
  readonly org: OrgId;
  readonly connector: ConnectorId | null;
}

export type OpenExecutionChange =
  | { readonly change: 'open'; readonly execution: OpenExecution }
  | { readonly change: 'close'; readonly action: string };

/**
 * How an event changes the table of open executions. Submission opens a row and the end of the execution closes it. A
 * refusal opens and closes in one append; changes of one batch that cancel out are not written. An action that waits
 * for approval, or for its agent's report, is closed, because the service has nothing to run; an approval opens it
 * again.
 */
export const openExecutionChange = (event: DomainEvent): OpenExecutionChange | null => {
  const known = event as ActionEvent;
  switch (known.type) {
    case 'ActionSubmitted': {
      const { action, org, connector } = known.data;
      return { change: 'open', execution: { action, org, connector } };
    }
    case 'ActionDecided':
      return courseOf(known.data.decision) === 'ends' ? { change: 'close', action: known.data.action } : null;
    case 'ExecutionReady': {
      // `org` is set only if an approval made the action ready. Otherwise its row is open since the submission.
      const { action, org, connector } = known.data;
      return org === undefined ? null : { change: 'open', execution: { action, org, connector: connector ?? null } };
    }
    case 'ApprovalRequested':
    case 'EdgeAuthorized':
      return { change: 'close', action: known.data.action };
    case 'ExecutionFinished':
      // The row stays open until the read-back, or the change log's word, is recorded.
      return known.data.read_back === undefined && known.data.change_log === undefined
        ? { change: 'close', action: known.data.action }
        : null;
    case 'ActionWitnessed':
      return known.data.method === 'read_back' || known.data.method === 'change_log'
        ? { change: 'close', action: known.data.action }
        : null;
    default:
      return null;
  }
};
