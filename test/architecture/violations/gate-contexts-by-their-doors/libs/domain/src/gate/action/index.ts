export { isOpen } from './action.state.js';
