export * from './agent.commands.js';
export * from './agent.decider.js';
export * from './agent.events.js';
export * from './agent.state.js';
export * from './api-key.js';
export * from './authenticate.js';
export * from './issue-keys.js';
