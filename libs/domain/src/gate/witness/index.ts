export { ChangeLogWitness } from './change-log-witness.js';
export { ConfirmAgain, ConfirmAgainHandler } from './confirm-again.handler.js';
export { ReadBack } from './read-back.js';
export { JudgedChanges } from './judged-change.js';
