export * from './agent.messages.js';
export { AGENT_HANDLERS, ORGANIZATION_HANDLERS } from './handlers.js';
export * from './organization.messages.js';
