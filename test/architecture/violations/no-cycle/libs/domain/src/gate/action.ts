import type { Approval } from './approval.js';

export type Action = Approval;
