export { referencesCommand } from './change-member.handler.js';
export { MEMBER_HANDLERS, PASSKEY_HANDLERS } from './handlers.js';
export * from './member.messages.js';
export * from './passkey.messages.js';
