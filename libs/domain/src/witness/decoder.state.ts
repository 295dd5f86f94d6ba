import type { Timestamp } from '../kernel/index.js';
import type { AttachedLog, DecoderReason } from './decoder.events.js';

/** Of changes past the service in one table, one in this time is told: a nightly job must not ring all night. */
export const BYPASS_QUIET_MS = 60_000;

/** What the log knows of a decoder. */
export interface Decoder {
  /** The log that it follows; null before the first one, and after its slot was dropped on purpose. */
  readonly attached: (AttachedLog & { readonly since: Timestamp }) | null;
  /** What is wrong; null where nothing is. */
  readonly reason: DecoderReason | null;
  /** When a bypass was last told, by table: those of the last {@link BYPASS_QUIET_MS} before the newest. */
  readonly toldBypasses: ReadonlyMap<string, Timestamp>;
}
