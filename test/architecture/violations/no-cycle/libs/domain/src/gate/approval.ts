import type { Action } from './action.js';

export type Approval = Action;
