import type { MembershipId, OrgId, UserId } from '../kernel/index.js';
import type { PasskeyCredential } from './passkey.state.js';

/** The site that passkeys are for, as WebAuthn names it. */
export interface RelyingParty {
  /** A host name: an IP address has no passkeys. */
  readonly id: string;
  /** What browsers say of the page that asked. */
  readonly origin: string;
}

/** What a device answered when it made a key. All of it comes from a client: nothing in it is true before it was verified. */
export interface RegistrationAnswer {
  /** Base64url, each. */
  readonly credential: string;
  readonly clientDataJson: string;
  readonly attestationObject: string;
}

/** What a device answered when it signed. */
export interface AssertionAnswer {
  /** Base64url, each. */
  readonly credential: string;
  readonly clientDataJson: string;
  readonly authenticatorData: string;
  readonly signature: string;
  /** {@link userHandleOf} of whom the device took it for; null where it says nobody. */
  readonly userHandle: string | null;
}

/** What an answer must be about. */
export interface Expected {
  /** Base64url. */
  readonly challenge: string;
  readonly party: RelyingParty;
}

/**
 * Judges what devices answer (WebAuthn level 3, sections 7.1 and 7.2). A person must have been verified by the device, and the
 * page must be of this very origin, in no frame of another. Whether a challenge is used for the first time is not its
 * business, and neither is whether a sign counter fell.
 */
export abstract class PasskeyVerifier {
  /** Without attestation, or with one that the key itself signed. @returns null for whatever is wrong */
  abstract registered(
    answer: RegistrationAnswer,
    expected: Expected,
  ): Promise<{ readonly made: PasskeyCredential; readonly signCount: number } | null>;
  /** @returns null for whatever is wrong */
  abstract asserted(
    answer: AssertionAnswer,
    key: Pick<PasskeyCredential, 'credential' | 'alg' | 'publicKey'>,
    expected: Expected,
  ): Promise<{ readonly signCount: number } | null>;
}

/** What is known of a passkey beside the log. Times are Unix milliseconds. */
export interface PasskeyRow {
  readonly credential: string;
  readonly user: UserId;
  readonly org: OrgId;
  readonly membership: MembershipId;
  /** As the person called it. */
  readonly name: string;
  /** Whether the device offers it at a sign-in, as the browser said; null where it did not. */
  readonly isOffered: boolean | null;
  readonly signCount: number;
  readonly lastUsedAtMs: number | null;
  /** When its counter last was not above what it had been: somebody may have a copy. */
  readonly counterFellAtMs: number | null;
}

export type NewPasskeyRow = Pick<
  PasskeyRow,
  'credential' | 'user' | 'org' | 'membership' | 'name' | 'isOffered' | 'signCount'
>;

/** Rows by which a passkey finds its organization. A row alone signs nobody in: the stream must hold the key. */
export abstract class PasskeyRows {
  /**
   * Written before the passkey's event, and void without it.
   * @returns false: another person has this credential, or another organization; nothing is changed
   */
  abstract note(row: NewPasskeyRow): Promise<boolean>;
  abstract find(credential: string): Promise<PasskeyRow | null>;
  abstract ofUser(user: UserId, org: OrgId): Promise<readonly PasskeyRow[]>;
  /** Those of an organization whose counter fell after `sinceMs`, the newest fall first. */
  abstract fallen(org: OrgId, sinceMs: number): Promise<readonly PasskeyRow[]>;
  /**
   * Notes a use. The highest count is kept; a device that counts nothing says 0 each time, which is no fall.
   * @returns whether the count fell
   */
  abstract used(credential: string, signCount: number, atMs: number): Promise<boolean>;
  abstract remove(credential: string): Promise<void>;
}

/** What a challenge is for: an answer to one is no answer to another. */
export type ChallengePurpose = 'register' | 'sign_in';

export interface BoundChallenge {
  /** SHA-256 of the challenge, which is stored nowhere. */
  readonly challengeHash: Uint8Array;
  readonly purpose: ChallengePurpose;
  /** Of a registration the id of the session; of a sign-in the hash of the cookie of the browser that asked. */
  readonly holder: string;
}

/** Random texts that devices are to sign, each once (rule PEOPLE-13). */
export abstract class PasskeyChallenges {
  /** Also removes those that are over. */
  abstract issue(challenge: BoundChallenge, nowMs: number, expiresAtMs: number): Promise<void>;
  /** Of any number of requests with one challenge one gets true. A wrong purpose or holder uses nothing up. */
  abstract take(challenge: BoundChallenge, nowMs: number): Promise<boolean>;
}
