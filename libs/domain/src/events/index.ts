export * from './public-event.js';
export * from './told-events.js';
