export { rest } from './rest-type.js';
