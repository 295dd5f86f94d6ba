import type { Timestamp } from '../kernel/index.js';

/**
 * Events of the stream `sealkeys`. `activated_at`, `retired_at` and `revoked_at` say when a change takes effect. A
 * retirement takes effect at least 60 s after its commit, so that by then no sealer signs under a key whose retirement
 * it does not know of.
 */
export type SealKeyEvent =
  | { type: 'SealKeyRegistered'; data: { kid: string; public_key: string; at: Timestamp } }
  | {
      type: 'SealKeyProven';
      /**
       * A running sealer opened the private key and signed a proof with it. `at` is the time by that sealer's clock.
       */
      data: { kid: string; signature: string; at: Timestamp };
    }
  | { type: 'SealKeyActivated'; data: { kid: string; activated_at: Timestamp; at: Timestamp } }
  /** `retired_at` is later than every deed that was sealed under the key, whatever the clocks say. */
  | { type: 'SealKeyRetired'; data: { kid: string; retired_at: Timestamp; at: Timestamp } }
  | { type: 'SealKeyRevoked'; data: { kid: string; revoked_at: Timestamp; reason: string | null; at: Timestamp } };
