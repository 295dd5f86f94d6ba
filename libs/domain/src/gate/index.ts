export * from './action.commands.js';
export * from './action.decider.js';
export * from './action.events.js';
export * from './action.state.js';
