import { action } from '../action/index.js';

export const review = action;
