export { referencesCommand } from './change-member.handler.js';
export { MEMBER_HANDLERS } from './handlers.js';
export * from './member.messages.js';
