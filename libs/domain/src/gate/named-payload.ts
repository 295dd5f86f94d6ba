import type { Payload } from '../kernel/index.js';
import type { ActionEvent } from './action.events.js';

/** Which of an action's payloads an event makes real. */
export type PayloadName = Pick<Payload, 'kind' | 'digest'>;

/**
 * Architecture, 'Rows beside the log': a row is inert until an event names it. No default: an event type without a case
 * does not compile, so that none can name a payload that the sweeper does not know of.
 */
export const payloadNamedBy = (event: ActionEvent): PayloadName | null => {
  switch (event.type) {
    case 'ActionSubmitted':
      return { kind: 'policy_input', digest: event.data.input_digest };
    case 'ExecutionFinished':
    case 'LateReport': {
      const { result_digest: digest } = event.data;
      return digest === null ? null : { kind: 'result', digest };
    }
    case 'ActionDecided':
    case 'ExecutionReady':
    case 'ExecutionStarted':
    case 'ActionWitnessed':
    case 'SubmissionAbandoned':
      return null;
  }
};
