import type { CommittedValue } from './commitment.js';
import { type DeedBody, DEED_VERSION } from './deed-schema.js';
import type { Digest } from './digest.js';

/** A member of a deed that stands for a value: a commitment, or in the first format a digest. */
export interface CommittedMember {
  /** The path in the body: `approval.countersigned.0.reason`. */
  readonly member: string;
  /** What the value is. Of two, the deed may hold either. */
  readonly values: readonly CommittedValue[];
  readonly commitment: Digest;
}

/** The members of a deed that stand for values, in the order of the format page. */
export const committedMembers = (body: DeedBody): readonly CommittedMember[] => {
  const { action, policy, approval, execution, witness, admin } = body;
  return [
    member('action.args_digest', action?.args_digest, 'args'),
    member('action.request_digest', action?.request_digest, 'request'),
    member('policy.input_digest', policy?.input_digest, 'input'),
    member('approval.context_digest', approval?.context_digest, 'context'),
    ...wordsOfPeople(body),
    member('execution.result_digest', execution?.result_digest, 'result'),
    member('execution.message', execution && 'message' in execution ? execution.message : null, 'message'),
    member('witness.evidence_digest', witness?.evidence_digest, 'evidence', 'result'),
    member('admin.data_digest', admin?.data_digest, 'data'),
  ].filter((one) => one !== null);
};

const wordsOfPeople = (body: DeedBody): readonly (CommittedMember | null)[] => {
  if (body.v !== DEED_VERSION || body.approval === null) return [];
  const { countersigned, decided_by: by } = body.approval;
  return [
    ...countersigned.flatMap(({ context, reason, assertion }, index) => [
      member(`approval.countersigned.${index}.context`, context, 'context'),
      member(`approval.countersigned.${index}.reason`, reason, 'reason'),
      member(`approval.countersigned.${index}.assertion`, assertion, 'assertion'),
    ]),
    member('approval.decided_by.reason', by?.reason, 'reason'),
    member('approval.decided_by.assertion', by?.assertion, 'assertion'),
  ];
};

const member = (
  path: string,
  commitment: Digest | null | undefined,
  ...values: readonly CommittedValue[]
): CommittedMember | null => (commitment ? { member: path, values, commitment } : null);
