import type { ErrorCode, OrgId, WebhookId } from '../kernel/index.js';
import type { AttemptOutcome } from './delivery.js';

/** One delivery as it goes over the wire. */
export interface WebhookPost {
  readonly org: OrgId;
  readonly webhook: WebhookId;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** From the look-up of the name to the end of the answer. */
  readonly timeoutMs: number;
  /** Asked when the connection is up and before the first byte. A code means: send nothing. */
  readonly mayStillSend: () => Promise<ErrorCode | null>;
}

/** `withdrawn`: {@link WebhookPost.mayStillSend} said no, or could not say; nothing was sent. */
export type PostOutcome = AttemptOutcome | { readonly withdrawn: ErrorCode };

/**
 * Sends deliveries through the egress door: every address is judged at every attempt, no redirect is followed, and of an
 * answer at most 64 KiB are read and none kept. Adapter: libs/infra/src/webhooks.
 */
export abstract class WebhookDoor {
  /** Never throws for what a receiver does. */
  abstract post(post: WebhookPost): Promise<PostOutcome>;
}
