export { commandBusOf } from './command-bus.js';
