import { isOpen } from '../action/index.js';
import { isOpen as behindTheDoor } from '../action/action.state.js';
import { terms } from './terms.js';

export const review = [isOpen, behindTheDoor, terms];
