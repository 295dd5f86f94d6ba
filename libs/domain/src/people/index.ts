export * from './key-ring.js';
export * from './organization.commands.js';
export * from './organization.decider.js';
export * from './organization.events.js';
export * from './organization.state.js';
export * from './person.decider.js';
