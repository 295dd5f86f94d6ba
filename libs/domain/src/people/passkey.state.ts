import type { MembershipId, PasskeyId, Timestamp, UserId } from '../kernel/index.js';
import type { PasskeyAlg } from './passkey.events.js';

/** What a device made: a key that never leaves it, by its public half. */
export interface PasskeyCredential {
  /** Base64url, as WebAuthn names it. */
  readonly credential: string;
  readonly alg: PasskeyAlg;
  /** Base64url of the SubjectPublicKeyInfo. */
  readonly publicKey: string;
  readonly rpId: string;
}

/** One that signs now. */
export interface Passkey extends PasskeyCredential {
  readonly passkey: PasskeyId;
  readonly membership: MembershipId;
  readonly user: UserId;
  readonly createdAt: Timestamp;
}

/** Those that were not removed, by their credentials. */
export type PasskeyRing = ReadonlyMap<string, Passkey>;
