import type { MembershipId, OrgId, PasskeyId, Timestamp, UserId } from '../kernel/index.js';

/** How a passkey signs, as COSE numbers it (RFC 9053): ES256 and EdDSA over Ed25519. */
export const PASSKEY_ALGS = [-7, -8] as const;
export type PasskeyAlg = (typeof PASSKEY_ALGS)[number];

interface OfPasskey {
  readonly org: OrgId;
  readonly passkey: PasskeyId;
  readonly membership: MembershipId;
  readonly user: UserId;
  /** The credential id of WebAuthn, base64url. */
  readonly credential: string;
}

/**
 * What the stream `org-<org_id>` says of passkeys. The name that a person gives one is in no event: a row has it, which is
 * erased with the person.
 */
export type PasskeyEvent =
  | {
      type: 'PasskeyRegistered';
      /**
       * `public_key`: base64url of the SubjectPublicKeyInfo (DER), made anew from the key's numbers, so of one key there is one
       * text. `rp_id`: the host name that every signature of the passkey names by its hash.
       */
      data: OfPasskey & { alg: PasskeyAlg; public_key: string; rp_id: string; at: Timestamp };
    }
  /** From here on it signs nothing and nobody in. Of a member who is removed each has its own. */
  | { type: 'PasskeyRemoved'; data: OfPasskey & { at: Timestamp } };

export type PasskeyEventType = PasskeyEvent['type'];

export const PASSKEY_EVENT_TYPES = {
  PasskeyRegistered: true,
  PasskeyRemoved: true,
} as const satisfies Record<PasskeyEventType, true>;
