import type { DeedBody, JsonValue } from '#libs/crypto';
import type { BundleEvidence } from './bundle-evidence.js';
import type { ConfigChange } from './connector-configs.js';
import { type Given, givenBy, NOT_GIVEN, objectOf } from './given.js';
import type { Named } from './names.js';

/** One action as a page: who asked for what, which rule said what, who signed, what was sent, and what came back. */
export interface ActionAccount {
  readonly object: 'action_account';
  readonly id: string;
  readonly tool: string;
  readonly mode: NonNullable<DeedBody['action']>['mode'];
  readonly livemode: boolean;
  readonly asked: AskedPart;
  readonly decided: DecidedPart | null;
  readonly approval: ApprovalPart | null;
  readonly execution: ExecutionPart | null;
  readonly witness: WitnessPart | null;
  readonly cost: { readonly amount: number; readonly currency: string } | null;
  readonly deeds: readonly DeedPlace[];
  /** What later deeds say about the same action, oldest first. */
  readonly amendments: readonly AmendmentPart[];
}

/** Where in the chain it is sealed. */
export interface DeedPlace {
  readonly id: string;
  readonly seq: number;
  readonly kind: DeedBody['kind'];
  readonly issued_at: string;
}

export interface AskedPart {
  readonly at: string;
  readonly actor: ActorPart;
  readonly agent: Named | null;
  readonly key: Named | null;
  readonly on_behalf_of: string | null;
  readonly session: string | null;
  readonly arguments: Given | null;
  /** Of what a call of the tool sends, and where it goes. */
  readonly tool_digest: string | null;
  /** The change that set the configuration that the connector had then. */
  readonly connector_config: ConfigChange | null;
  readonly connector: Named | null;
  /** Null: the call came without a signed intent. */
  readonly intent: IntentPart | null;
}

export interface IntentPart {
  readonly hash: string;
  readonly document: Given;
  readonly signature: string | null;
  /** It was given, and is right: a key that the agent had then signed this call, its arguments included. */
  readonly checked: boolean;
}

export interface ActorPart {
  readonly type: string;
  readonly who: Named | null;
}

export interface DecidedPart {
  readonly at: string;
  readonly outcome: string;
  readonly source: string;
  readonly code: string | null;
  readonly rule: string | null;
  readonly reason: string | null;
  readonly message: string | null;
  readonly policy: Named | null;
  readonly version: { readonly id: string; readonly number: number | null } | null;
  /** The text of the policy version, whole: what of it a rule is, only a parser of policies can say. */
  readonly policy_text: Given | null;
  /** False: that this is the text of the version is the word of the service, no deed of the bundle says so. */
  readonly policy_text_proven: boolean;
  readonly input: Given | null;
  /** What the call was about to send, as the policy was told; null where no input was given. */
  readonly request: JsonValue;
}

export interface ApprovalPart {
  readonly id: string;
  readonly status: string;
  readonly required: number;
  readonly expires_at: string;
  readonly decided_at: string;
  readonly signatures: readonly SignaturePart[];
  readonly decided_by: (ActorPart & Pick<SignaturePart, 'reason' | 'passkey' | 'passkey_checked'>) | null;
  readonly shown: Given | null;
}

export interface SignaturePart {
  readonly who: Named;
  readonly at: string;
  readonly saw: Given | null;
  readonly reason: Given | null;
  /** The assertion of a passkey; null: the service's word alone. */
  readonly passkey: Given | null;
  /** It was given, and is right: the device of this person signed this decision on what was shown. */
  readonly passkey_checked: boolean;
}

export interface ExecutionPart {
  readonly status: string;
  readonly attempts: number;
  readonly error_code: string | null;
  readonly message: Given | null;
  readonly result: Given | null;
  readonly first_sent_at: string | null;
  readonly started_at: string | null;
  readonly finished_at: string;
}

export interface WitnessPart {
  readonly level: string;
  readonly verdict: string;
  readonly method: string;
  readonly reasons: readonly string[];
  readonly evidence: Given | null;
}

export interface AmendmentPart extends DeedPlace {
  readonly actor: ActorPart;
  readonly execution: ExecutionPart | null;
  readonly witness: WitnessPart | null;
}

/** Null: no deed of this action is in the bundle. `id` is that of the action, of one of its deeds or of its approval. */
export const accountOfAction = (evidence: BundleEvidence, deeds: readonly DeedBody[]): ActionAccount | null => {
  const [first] = deeds;
  if (first === undefined || first.action === null) return null;
  const { action } = first;
  const amendments = deeds.filter(({ kind }) => kind === 'amendment');
  const whole = deeds.find(({ kind }) => kind === 'action') ?? first;
  return {
    object: 'action_account',
    id: action.id,
    tool: action.tool_truncated ? `${action.tool}…` : action.tool,
    mode: action.mode,
    livemode: action.livemode,
    asked: askedIn(evidence, whole),
    decided: decidedIn(evidence, whole),
    approval: approvalIn(evidence, whole),
    execution: whole.kind === 'amendment' ? null : executionIn(evidence, whole),
    witness: whole.kind === 'amendment' ? null : witnessIn(evidence, whole),
    cost: whole.cost,
    deeds: deeds.map(placeOf),
    amendments: amendments.map((deed) => ({
      ...placeOf(deed),
      actor: actorOf(evidence, deed.who.actor),
      execution: executionIn(evidence, deed),
      witness: witnessIn(evidence, deed),
    })),
  };
};

export const placeOf = ({ id, seq, kind, issued_at }: DeedBody): DeedPlace => ({ id, seq, kind, issued_at });

export const actorOf = ({ names }: BundleEvidence, { type, id }: DeedBody['who']['actor']): ActorPart => ({
  type,
  who: id === null ? null : names.of(id),
});

const nameOf = ({ names }: BundleEvidence, id: string | null): Named | null => (id === null ? null : names.of(id));

const askedIn = (evidence: BundleEvidence, deed: DeedBody): AskedPart => {
  const { who, action } = deed;
  const intent = evidence.opened.line(deed.seq, 'who.intent_hash');
  return {
    at: action?.created_at ?? deed.issued_at,
    actor: actorOf(evidence, who.actor),
    agent: nameOf(evidence, who.agent),
    key: nameOf(evidence, who.key),
    on_behalf_of: who.on_behalf_of,
    session: who.session,
    arguments: evidence.opened.of(deed, 'action.args_digest', action?.args_digest),
    tool_digest: action?.tool_digest ?? null,
    connector_config: action?.connector ? evidence.configs.at(action.connector, action.created_at) : null,
    connector: nameOf(evidence, action?.connector ?? null),
    intent:
      who.intent_hash === null
        ? null
        : {
            hash: who.intent_hash,
            document: intent === null ? NOT_GIVEN : givenBy(intent),
            signature: intent?.kind === 'document' ? intent.signature : null,
            checked: evidence.isChecked(deed.seq, 'who.intent_hash'),
          },
  };
};

const decidedIn = (evidence: BundleEvidence, deed: DeedBody): DecidedPart | null => {
  const { policy } = deed;
  if (policy === null) return null;
  const input = evidence.opened.of(deed, 'policy.input_digest', policy.input_digest);
  const document = policy.policy_version === null ? null : evidence.policyText(policy.policy_version);
  const text = document?.given ?? null;
  return {
    at: policy.decided_at,
    outcome: policy.outcome,
    source: policy.source,
    code: policy.code,
    rule: policy.rule_id,
    reason: policy.reason,
    message: policy.message,
    policy: nameOf(evidence, policy.policy),
    version:
      policy.policy_version === null
        ? null
        : { id: policy.policy_version, number: evidence.names.numberOf(policy.policy_version) },
    policy_text: text,
    policy_text_proven: document?.isProven ?? true,
    input,
    request: input !== null && 'value' in input ? (objectOf(input.value)?.['request'] ?? null) : null,
  };
};

const approvalIn = (evidence: BundleEvidence, deed: DeedBody): ApprovalPart | null => {
  const { approval } = deed;
  if (approval === null) return null;
  const given = (member: string, commitment: string | null | undefined): Given | null =>
    evidence.opened.of(deed, member, commitment);
  const by = approval.decided_by;
  return {
    id: approval.id,
    status: approval.status,
    required: approval.required,
    expires_at: approval.expires_at,
    decided_at: approval.decided_at,
    signatures: approval.countersigned.map((signature, index) => {
      const path = `approval.countersigned.${index}`;
      const salted = 'context' in signature ? signature : null;
      return {
        who: evidence.names.of(signature.by),
        at: signature.at,
        saw: given(`${path}.context`, salted?.context),
        reason: given(`${path}.reason`, salted?.reason),
        passkey: given(`${path}.assertion`, salted?.assertion),
        passkey_checked: evidence.isChecked(deed.seq, `${path}.assertion`),
      };
    }),
    decided_by:
      by === null
        ? null
        : {
            ...actorOf(evidence, by),
            reason: given('approval.decided_by.reason', 'reason' in by ? by.reason : null),
            passkey: given('approval.decided_by.assertion', 'assertion' in by ? by.assertion : null),
            passkey_checked: evidence.isChecked(deed.seq, 'approval.decided_by.assertion'),
          },
    shown: given('approval.context_digest', approval.context_digest),
  };
};

const executionIn = (evidence: BundleEvidence, deed: DeedBody): ExecutionPart | null => {
  const { execution } = deed;
  if (execution === null) return null;
  const salted = 'first_sent_at' in execution ? execution : null;
  return {
    status: execution.status,
    attempts: execution.attempts,
    error_code: execution.error_code,
    message: evidence.opened.of(deed, 'execution.message', salted?.message),
    result: evidence.opened.of(deed, 'execution.result_digest', execution.result_digest),
    first_sent_at: salted?.first_sent_at ?? null,
    started_at: execution.started_at,
    finished_at: execution.finished_at,
  };
};

const witnessIn = (evidence: BundleEvidence, deed: DeedBody): WitnessPart | null => {
  const { witness } = deed;
  if (witness === null) return null;
  return {
    level: witness.level,
    verdict: witness.verdict,
    method: witness.method,
    reasons: witness.reasons,
    evidence: evidence.opened.of(deed, 'witness.evidence_digest', witness.evidence_digest),
  };
};
