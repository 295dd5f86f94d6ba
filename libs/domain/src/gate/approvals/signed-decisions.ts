import {
  approvalChallenge,
  canonicalize,
  commitUnder,
  type Digest,
  digestOf,
  encodeBase64url,
  faultOfAssertion,
  type PasskeyAssertion,
} from '#libs/crypto';
import {
  DomainError,
  failpoint,
  type Clock,
  type Logger,
  type PayloadStore,
  saltedPayload,
  type UserId,
} from '../../kernel/index.js';
import {
  activeMembershipOf,
  type AssertionAnswer,
  type Passkey,
  PASSKEY_CHALLENGE_MS,
  passkeysOf,
  type PasskeyRows,
  type PasskeyVerifier,
  type RelyingParty,
  requireParty,
  userHandleOf,
} from '../../people/index.js';
import { digestToSign } from './approval-review.js';
import type { ReviewToActBy } from './approval-reviews.js';
import type { GivenAssertion } from './decide-approval.command.js';
import { type JudgedAnswer, requireDecidable, requireStillOpen } from './decidable.js';

/** One person's decision, as far as a device is to sign it. */
type DecisionToSign = Pick<JudgedAnswer, 'decision' | 'by'>;

/** What a browser is to ask a device for, as `PublicKeyCredential.parseRequestOptionsFromJSON` takes it. */
export interface DecisionOptions {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout: number;
  readonly userVerification: 'required';
  /** The person's own: a device that cannot list its passkeys is told which are meant. */
  readonly allowCredentials: readonly { readonly type: 'public-key'; readonly id: string }[];
}

/** A signature that holds, before it is kept. */
export interface HeldAssertion {
  readonly assertion: PasskeyAssertion;
  readonly passkey: Passkey;
  readonly signCount: number;
}

/** The events name the digest, and deeds the commitment. */
export interface KeptAssertion {
  readonly digest: Digest;
  readonly commitment: Digest;
}

export interface SignedDecisionParts {
  readonly verifier: Pick<PasskeyVerifier, 'asserted'>;
  readonly rows: Pick<PasskeyRows, 'used'>;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

const WRONG =
  'The passkey did not sign this decision. Read the approval again, and sign with a passkey that is yours in this organization.';
const NONE_YET =
  'This approval is signed with a passkey, and you have none here. Add one in the Console, under Settings, Sessions and passkeys; then approve.';

/**
 * Decisions that a person's device signs. The challenge names the decision, the person and what was shown, so it needs no
 * memory: it is computed anew, an answer fits nothing else, and the same answer sent again says the same (docs/approvals.md).
 */
export class SignedDecisions {
  constructor(private readonly parts: SignedDecisionParts) {}

  /**
   * What the device would sign is what {@link DecideApproval} would take now, so all that refuses it refuses this.
   * @throws {DomainError} not_found: no passkeys at this site; those of the decision; approval_needs_passkey: the person has none
   */
  optionsFor(review: ReviewToActBy, said: JudgedAnswer, party: RelyingParty | null): DecisionOptions {
    const { id: rpId } = requireParty(party);
    requireStillOpen(review);
    requireDecidable(said, review);
    const own = passkeysFor(review, said.by).filter((passkey) => passkey.rpId === rpId);
    if (own.length === 0) throw new DomainError('approval_needs_passkey', { message: NONE_YET });
    return {
      challenge: challengeOf(review, said),
      rpId,
      timeout: PASSKEY_CHALLENGE_MS,
      userVerification: 'required',
      allowCredentials: own.map(({ credential: id }) => ({ type: 'public-key', id })),
    };
  }

  /** @throws {DomainError} approval_needs_passkey: a yes that has to be signed is not */
  requireSigned(review: ReviewToActBy, { decision, by }: DecisionToSign): void {
    if (decision === 'deny' || !review.terms.signed) return;
    const options = passkeysFor(review, by).length === 0 ? { message: NONE_YET } : {};
    throw new DomainError('approval_needs_passkey', options);
  }

  /**
   * Whoever reads the deed later has libs/crypto alone, so that is who must be convinced; the verifier of sign-ins, which shares
   * no code with it, must be too.
   * @throws {DomainError} passkey_invalid: whatever is wrong; not_found
   */
  async held(review: ReviewToActBy, said: DecisionToSign, given: GivenAssertion): Promise<HeldAssertion> {
    const { answer } = given;
    const party = requireParty(given.party);
    const passkey = passkeysFor(review, said.by).find(({ credential }) => credential === answer.credential);
    if (passkey?.rpId !== party.id) throw new DomainError('passkey_invalid', { message: WRONG });
    const assertion = assertionOf(answer);
    const challenge = challengeOf(review, said);
    const { alg, credential, publicKey: public_key } = passkey;
    const expected = { challenge, rp_id: party.id, origin: party.origin };
    const fault = faultOfAssertion(assertion, { alg, credential, public_key }, expected);
    const isOthers = answer.userHandle !== null && answer.userHandle !== userHandleOf(passkey.membership);
    const asserted =
      fault === null && !isOthers ? await this.parts.verifier.asserted(answer, passkey, { challenge, party }) : null;
    if (asserted === null) throw new DomainError('passkey_invalid', { message: WRONG });
    return { assertion, passkey, signCount: asserted.signCount };
  }

  /** Stores it, before the event that names it. Without the event it is inert, and swept up. */
  async keep({ action }: ReviewToActBy, { assertion }: HeldAssertion): Promise<KeptAssertion> {
    const { action: owner, org } = action.submission;
    const body = canonicalize({ ...assertion });
    const payload = saltedPayload({ owner, org, kind: 'assertion', digest: digestOf(body), body });
    await this.parts.payloads.put(payload);
    await failpoint('apr.assertion');
    return { digest: payload.digest, commitment: commitUnder(payload.salt, 'assertion', body) };
  }

  /** Where a device counts and its count fell somebody may have a copy: said, not refused, as at a sign-in. */
  async noteUse({ passkey: { passkey, credential, user }, signCount }: HeldAssertion): Promise<void> {
    const { rows, clock, logger } = this.parts;
    if (await rows.used(credential, signCount, clock.nowMs())) {
      logger.warn('the sign counter of a passkey fell; it may have been copied', { passkey, user });
    }
  }
}

/** Those of the person's membership now: one that was removed signs nothing. */
export const passkeysFor = ({ org }: Pick<ReviewToActBy, 'org'>, user: UserId): readonly Passkey[] => {
  const member = activeMembershipOf(org.members, user);
  return member === null ? [] : passkeysOf(org.passkeys, member.membership);
};

const challengeOf = (review: ReviewToActBy, { decision, by: user }: DecisionToSign): string => {
  const { action, org } = review.action.submission;
  const { approval } = review.approval.terms;
  const context_digest = digestToSign(review);
  return encodeBase64url(approvalChallenge({ org, approval, action, context_digest, decision, user }));
};

const assertionOf = ({
  authenticatorData: authenticator_data,
  clientDataJson: client_data_json,
  credential,
  signature,
}: AssertionAnswer): PasskeyAssertion => ({ authenticator_data, client_data_json, credential, signature });
