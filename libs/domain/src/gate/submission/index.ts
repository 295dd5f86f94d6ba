export { AdmissionKernel } from './admission-kernel.js';
export { IntentNonces, type NonceHolder, type NonceReservation } from './intent-nonces.port.js';
export { IntentRefused } from './intent-refusal.js';
export { checkIntent, type IntendedCall } from './judge-intent.js';
export { MustAsk, SubmitAction, type SubmittedAction } from './submit-action.command.js';
export { isSameCall } from './used-key.js';
export { SubmitActionHandler } from './submit-action.handler.js';
