import type { Digest } from '#libs/crypto';

/** What agents and tools said. Removed by retention while deeds, which hold digests only, keep verifying. */
export type PayloadKind = 'policy_input' | 'result' | 'approval_context' | 'observation';

export interface Payload {
  /** The action it belongs to. */
  readonly owner: string;
  readonly org: string;
  readonly kind: PayloadKind;
  /** Of `body`; stands in the event that names the payload. */
  readonly digest: Digest;
  /** JSON text in RFC 8785 form. */
  readonly body: string;
}
