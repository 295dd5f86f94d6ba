export {
  ChangeLogSource,
  type FollowedLog,
  type FollowEnd,
  type LogFacts,
  type SlotFacts,
  type WitnessLogin,
} from './change-log-source.port.js';
export type { DecoderAddress, DecoderCommand } from './decoder.commands.js';
export { decoderDecider } from './decoder.decider.js';
export {
  type AttachedLog,
  DECODER_ALERTS,
  DECODER_REASONS,
  type DecoderAlert,
  type DecoderAlertKind,
  type DecoderEvent,
  type DecoderReason,
  isLoss,
} from './decoder.events.js';
export { isLagging, type Lag, LagGauge } from './decoder-lag.js';
export { DecoderLog } from './decoder-log.js';
export {
  DECODER_ROW_REASONS,
  DECODER_STATUSES,
  type DecoderLook,
  decoderNow,
  type DecoderRow,
  type DecoderRowReason,
  DecoderRows,
  type DecoderStatus,
  decoderStatusOf,
} from './decoder-rows.port.js';
export { BYPASS_QUIET_MS, type Decoder } from './decoder.state.js';
export { hasPassed } from './log-position.js';
export { LogUnreachable } from './log-unreachable.js';
export type { ChangeLogVerdicts, MarkReader, ReadMark, WaitingAction, WaitingActions } from './witness-seams.js';
export { openMarkReader } from './mark-reading.js';
export { isWitnessed, type WitnessTerms, witnessTermsOf } from './witness-terms.js';
