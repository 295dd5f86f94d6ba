export { rest } from './rest/rest-type.js';
export { chat } from './chat/chat-type.js';
