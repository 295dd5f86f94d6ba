export { ConfirmAgain, ConfirmAgainHandler } from './confirm-again.handler.js';
export { ReadBack } from './read-back.js';
