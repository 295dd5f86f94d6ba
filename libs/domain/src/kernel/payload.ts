import { newSalt, type Digest, type Salt } from '#libs/crypto';

/**
 * Kinds of what agents, tools and people's devices said. Retention removes payloads; deeds keep verifying, because they hold digests
 * only.
 */
export type PayloadKind = 'policy_input' | 'result' | 'approval_context' | 'assertion' | 'observation';

export interface Payload {
  /** The id of the action that the payload belongs to. */
  readonly owner: string;
  readonly org: string;
  readonly kind: PayloadKind;
  /** The digest of `body`, which the event that names the payload holds. */
  readonly digest: Digest;
  /** JSON text in RFC 8785 form. */
  readonly body: string;
  /**
   * The root of the salts under which deeds commit to the body and to parts of it. It goes with the body. Absent if no
   * event of this payload commits to anything. Where the same body is written again under another salt, both are kept.
   */
  readonly salt?: Salt;
}

/** A payload that deeds commit to. */
export type SaltedPayload = Payload & { readonly salt: Salt };

/** The payload with a salt of its own. */
export const saltedPayload = ({ owner, org, kind, digest, body }: Payload): SaltedPayload => ({
  owner,
  org,
  kind,
  digest,
  body,
  salt: newSalt(),
});
