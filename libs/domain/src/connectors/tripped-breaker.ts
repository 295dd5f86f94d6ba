/**
 * Why a connector was disabled by the service itself (rule CON-11). `livemode_detected`: an answer of the payments processor
 * was about real money. `live_key_stored`: the vault holds a key that could move real money.
 */
type BreakerReason = 'livemode_detected' | 'live_key_stored';

/** What a driver has seen that its connector must not go on with. */
export interface TrippedBreaker {
  readonly reason: BreakerReason;
  /** As the upstream named the request that showed it; null where none did. */
  readonly upstreamRequestId: string | null;
}
