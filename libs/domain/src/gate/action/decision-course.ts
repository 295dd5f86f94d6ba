import type { Decision } from './action.events.js';

/**
 * What becomes of a call by its decision: it runs, it waits for people, or it ends there. An outcome without a line does
 * not compile.
 */
const COURSES: Readonly<Record<Decision['outcome'], 'runs' | 'waits' | 'ends'>> = {
  allow: 'runs',
  require_approval: 'waits',
  deny: 'ends',
};

export const courseOf = ({ outcome }: Pick<Decision, 'outcome'>): 'runs' | 'waits' | 'ends' => COURSES[outcome];
