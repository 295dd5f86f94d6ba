import { review } from '../approvals/index.js';

export const brief = review;
