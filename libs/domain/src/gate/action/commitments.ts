import { canonicalize, type CommittedValue, digestOf, type Digest } from '#libs/crypto';
import type { ActionEvent } from './action.events.js';
import type { Commitment, LivingAction } from './action.state.js';

/** A reason or a message, by the digest of its text. */
export const digestOfText = (text: string): Digest => digestOf(canonicalize(text));

/** Takes what the event commits to into the state. The commitments of the submission stand in the submission. */
export const withCommitments = (action: LivingAction, event: ActionEvent): LivingAction => {
  const found = commitmentsIn(event);
  return found.length === 0 ? action : { ...action, commitments: [...(action.commitments ?? NONE), ...found] };
};

/** The commitment to the value with this digest; null in actions of versions that sealed plain digests. */
export const commitmentTo = (
  { commitments, submission }: Pick<LivingAction, 'commitments' | 'submission'>,
  value: CommittedValue,
  digest: Digest,
): Digest | null => {
  if (value === 'args' || value === 'input' || value === 'request') return submission.commitments?.[value] ?? null;
  const found = commitments?.find((one) => one.value === value && one.digest === digest);
  return found?.commitment ?? null;
};

const commitmentsIn = (event: ActionEvent): readonly Commitment[] => {
  switch (event.type) {
    case 'ApprovalRequested':
      return pairs(event.data.commitments, { context: event.data.context_digest });
    case 'ApprovalCountersigned':
    case 'ApprovalDecided': {
      const { commitments, context_digest: context, reason, assertion_digest: assertion = null } = event.data;
      return pairs(commitments, { context, reason: reason === null ? null : digestOfText(reason), assertion });
    }
    case 'EdgeReported':
    case 'ExecutionFinished':
    case 'LateReport': {
      const { commitments, error_message: message, result_digest: result } = event.data;
      return pairs(commitments, { ...(message === null ? {} : { message: digestOfText(message) }), result });
    }
    case 'ActionWitnessed':
    case 'WitnessAmended':
    case 'WitnessReported':
      return pairs(event.data.commitments, { evidence: event.data.evidence_digest });
    default:
      return NONE;
  }
};

const NONE: readonly Commitment[] = [];

const pairs = (
  commitments: Readonly<Partial<Record<CommittedValue, Digest>>> | undefined,
  digests: Readonly<Partial<Record<CommittedValue, Digest | null>>>,
): readonly Commitment[] => {
  if (commitments === undefined) return NONE;
  return Object.entries(digests).flatMap(([name, digest]) => {
    const value = name as CommittedValue;
    const commitment = commitments[value];
    return digest === null || commitment === undefined ? [] : [{ value, digest, commitment }];
  });
};
