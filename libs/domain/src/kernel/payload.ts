import type { Digest } from '#libs/crypto';

/**
 * Kinds of what agents and tools said. Retention removes payloads; deeds keep verifying, because they hold digests
 * only.
 */
export type PayloadKind = 'policy_input' | 'result' | 'approval_context' | 'observation';

export interface Payload {
  /** The id of the action that the payload belongs to. */
  readonly owner: string;
  readonly org: string;
  readonly kind: PayloadKind;
  /** The digest of `body`, which the event that names the payload holds. */
  readonly digest: Digest;
  /** JSON text in RFC 8785 form. */
  readonly body: string;
}
