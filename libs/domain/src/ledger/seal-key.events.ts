import type { Timestamp } from '../kernel/index.js';

/**
 * Stream `sealkeys`. Times are when a change takes effect; a retirement takes effect at least 60 s after its commit, so
 * that no sealer can still be signing under a key it has not heard of retiring.
 */
export type SealKeyEvent =
  | { type: 'SealKeyRegistered'; data: { kid: string; public_key: string; at: Timestamp } }
  | {
      type: 'SealKeyProven';
      /** A live sealer opened the private key and signed a test with it. `at` is its own clock's word. */
      data: { kid: string; signature: string; at: Timestamp };
    }
  | { type: 'SealKeyActivated'; data: { kid: string; activated_at: Timestamp; at: Timestamp } }
  /** Later than every deed that was sealed under the key, whatever the clocks say. */
  | { type: 'SealKeyRetired'; data: { kid: string; retired_at: Timestamp; at: Timestamp } }
  | { type: 'SealKeyRevoked'; data: { kid: string; revoked_at: Timestamp; reason: string | null; at: Timestamp } };
