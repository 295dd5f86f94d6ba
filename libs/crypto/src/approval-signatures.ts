import { APPROVAL_DECISIONS, approvalChallenge } from './approval-challenge.js';
import { encodeBase64url } from './base64url.js';
import type { DeedBody } from './deed-schema.js';
import { type Digest, digestOf } from './digest.js';
import { faultOfAssertion, type PasskeyRegistration } from './passkey-assertion.js';
import type { JsonObject, JsonValue } from './strict-json.js';

/**
 * How many of the people who decided signed with a device, and of the calls came with an intent of the agent. `unsigned`: the
 * service's word. `unchecked`: the deed names what was signed, and the bundle does not give it, or what it is checked with:
 * what was shown, the arguments, the registration of the key.
 */
export interface SignatureCounts {
  readonly signed: number;
  readonly unsigned: number;
  readonly unchecked: number;
}

/** Whose decision a deed holds, and under which members what they saw and what their device signed. */
interface Decision {
  readonly assertion: string;
  readonly context: string;
  readonly by: string;
  readonly at: string;
  readonly decision: (typeof APPROVAL_DECISIONS)[number];
  /** The last of several to sign stands twice in a deed. */
  readonly isCounted: boolean;
}

/** What of a deed the check of signatures needs; null of most deeds. */
export type SignedSubject =
  | {
      readonly subject: 'approval';
      readonly approval: string;
      readonly action: string;
      readonly decisions: readonly Decision[];
    }
  | { readonly subject: 'registered'; readonly passkey: string };

/** A deed that removes a passkey. Which one is sealed: it counts whether or not its data are given. */
export interface PasskeyRemoval {
  readonly seq: number;
  readonly passkey: string;
  /** When the deed was issued. */
  readonly at: string;
}

export const passkeyRemovalOf = ({ seq, admin, issued_at }: DeedBody): PasskeyRemoval | null =>
  admin?.action === 'passkey.removed' ? { seq, passkey: admin.target.id, at: issued_at } : null;

const [APPROVE, DENY] = APPROVAL_DECISIONS;

export const signedSubjectOf = ({ approval, action, admin }: DeedBody): SignedSubject | null => {
  if (admin?.action === 'passkey.registered') return { subject: 'registered', passkey: admin.target.id };
  if (approval === null || action === null) return null;
  const decisions = decisionsIn(approval).filter(({ isAsserted }) => isAsserted);
  return decisions.length === 0 ? null : { subject: 'approval', approval: approval.id, action: action.id, decisions };
};

/** How many people decided, and how many of them with an assertion. */
export const decidersOf = ({ approval }: DeedBody): { readonly people: number; readonly asserted: number } => {
  const counted = approval === null ? [] : decisionsIn(approval).filter(({ isCounted }) => isCounted);
  return { people: counted.length, asserted: counted.filter(({ isAsserted }) => isAsserted).length };
};

const decisionsIn = (
  approval: NonNullable<DeedBody['approval']>,
): readonly (Decision & { readonly isAsserted: boolean })[] => {
  const signed = approval.countersigned.map((one, index) => ({
    ...{ assertion: `approval.countersigned.${index}.assertion`, context: `approval.countersigned.${index}.context` },
    ...{ by: one.by, at: one.at, decision: APPROVE, isCounted: true },
    isAsserted: 'assertion' in one && one.assertion !== null,
  }));
  const { decided_by: by, status } = approval;
  if (by?.type !== 'user' || by.id === null || (status !== 'approved' && status !== 'denied')) return signed;
  return [
    ...signed,
    {
      ...{ assertion: 'approval.decided_by.assertion', context: 'approval.context_digest' },
      ...{ by: by.id, at: approval.decided_at, isCounted: status === 'denied' },
      decision: status === 'denied' ? DENY : APPROVE,
      isAsserted: 'assertion' in by && by.assertion !== null,
    },
  ];
};

/** `unchecked`: what it is checked with was not given. */
export type AssertionJudgement = 'right' | 'wrong' | 'unchecked';

interface KnownPasskey {
  readonly registration: PasskeyRegistration;
  readonly rpId: string;
  readonly user: string;
  /** Its id in the deeds. */
  readonly passkey: string;
}

/**
 * Checks what devices signed, while the opened values of a bundle pass in the order of its deeds: each assertion against the
 * passkey that an earlier deed registered to that person, and against the decision and what was shown.
 */
export class ApprovalSignatures {
  readonly #passkeys = new Map<string, KnownPasskey>();
  /** The first of each passkey. */
  readonly #removals = new Map<string, PasskeyRemoval>();
  /** Digests of what people were shown, of the deed at `#seq`. */
  readonly #shown = new Map<string, Digest>();
  #seq = 0;
  #opened = 0;
  #signed = 0;

  /** @param removals all among the deeds, in their order */
  constructor(
    private readonly org: string,
    removals: readonly PasskeyRemoval[],
  ) {
    for (const removal of removals)
      if (!this.#removals.has(removal.passkey)) this.#removals.set(removal.passkey, removal);
  }

  get signed(): number {
    return this.#signed;
  }

  /**
   * Takes the value of a member of a deed.
   * @param registeredBefore how many deeds before it register a passkey, null where the bundle does not begin with the chain
   * @returns null where it is no assertion
   */
  take(opened: OpenedOfSubject, registeredBefore: number | null): AssertionJudgement | null {
    const { seq, subject, member, bytes, value } = opened;
    if (seq !== this.#seq) this.#shown.clear();
    this.#seq = seq;
    if (subject.subject !== 'approval') return this.learn(subject.passkey, member, value);
    this.#shown.set(member, digestOf(bytes));
    const decision = subject.decisions.find(({ assertion }) => assertion === member);
    return decision === undefined ? null : this.judge(decision, subject, value, this.#opened === registeredBefore);
  }

  private learn(passkey: string, member: string, value: JsonValue): null {
    const data = member === 'admin.data_digest' ? objectIn(value) : null;
    const credential = data?.['credential'];
    if (data === null || typeof credential !== 'string') return null;
    this.#opened += 1;
    const { alg, public_key, rp_id, user } = data;
    if (typeof alg !== 'number' || typeof public_key !== 'string' || typeof rp_id !== 'string') return null;
    if (typeof user !== 'string') return null;
    const registration = { alg, credential, public_key };
    this.#passkeys.set(credential, { registration, rpId: rp_id, user, passkey });
    return null;
  }

  private judge(
    { context, by: user, at, decision, isCounted }: Decision,
    { approval, action }: Extract<SignedSubject, { subject: 'approval' }>,
    assertion: JsonValue,
    areAllKnown: boolean,
  ): AssertionJudgement {
    const credential = objectIn(assertion)?.['credential'];
    const passkey = typeof credential === 'string' ? this.#passkeys.get(credential) : undefined;
    // A chain that is given from its beginning, with each registration, leaves no room for another passkey.
    if (passkey === undefined) return areAllKnown || typeof credential !== 'string' ? 'wrong' : 'unchecked';
    const removal = this.#removals.get(passkey.passkey);
    const isRemoved = removal !== undefined && removal.seq < this.#seq && removal.at < at;
    if (passkey.user !== user || isRemoved) return 'wrong';
    const context_digest = this.#shown.get(context);
    if (context_digest === undefined) return 'unchecked';
    const challenge = approvalChallenge({ org: this.org, approval, action, context_digest, decision, user });
    const expected = { challenge: encodeBase64url(challenge), rp_id: passkey.rpId, origin: null };
    if (faultOfAssertion(assertion, passkey.registration, expected) !== null) return 'wrong';
    if (isCounted) this.#signed += 1;
    return 'right';
  }
}

/** An opened member of a deed that has a subject. */
export interface OpenedOfSubject {
  readonly seq: number;
  readonly subject: SignedSubject;
  readonly member: string;
  /** The value as its bytes, in canonical form. */
  readonly bytes: Uint8Array;
  readonly value: JsonValue;
}

const objectIn = (value: JsonValue): JsonObject | null =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
