import type { Payload } from '../../kernel/index.js';
import type { ActionEvent } from '../action/index.js';

/** The payload that an event names. Kind and digest are unique among the payloads of one action. */
export type PayloadName = Pick<Payload, 'kind' | 'digest'>;

/**
 * Every payload that an event names: what a person's passkey signed stands beside what the person was shown. Undefined for an
 * event of a newer version, which may name any.
 */
export const payloadsNamedBy = (event: ActionEvent): readonly PayloadName[] | undefined => {
  const named = payloadNamedBy(event) as PayloadName | null | undefined;
  if (named === undefined) return undefined;
  const names = named === null ? [] : [named];
  if (event.type !== 'ApprovalCountersigned' && event.type !== 'ApprovalDecided') return names;
  const { assertion_digest: digest } = event.data;
  return digest === undefined ? names : [...names, { kind: 'assertion', digest }];
};

/**
 * The payload that an event names; null if it names none. A payload row counts only if an event names it
 * (docs/architecture.md, Rows beside the log). The switch has no default, so a new event type without a case does not
 * compile; otherwise the sweeper could remove payloads that it names.
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
    case 'WitnessReported':
    case 'ActionWitnessed': {
      const { evidence_digest: digest } = event.data;
      return digest === null ? null : { kind: 'observation', digest };
    }
    case 'WitnessAmended': {
      const { evidence_digest: digest, cause } = event.data;
      if (digest === null) return null;
      // The late report itself names the same result.
      return { kind: cause === 'late_report' ? 'result' : 'observation', digest };
    }
    case 'EdgeReported': {
      const { result_digest: digest, has_result } = event.data;
      return digest === null || !has_result ? null : { kind: 'result', digest };
    }
    case 'ApprovalRequested':
    case 'ApprovalCountersigned':
    case 'ApprovalDecided':
      return { kind: 'approval_context', digest: event.data.context_digest };
    case 'ApprovalExpired':
    case 'ActionCancelled':
    case 'EdgeAuthorized':
    case 'EdgeLost':
    case 'ActionDecided':
    case 'ExecutionReady':
    case 'ExecutionStarted':
    case 'ExecutionProgress':
    case 'SubmissionAbandoned':
      return null;
  }
};
