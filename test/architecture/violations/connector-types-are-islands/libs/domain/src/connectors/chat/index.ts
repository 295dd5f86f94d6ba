export { chat } from './chat-type.js';
