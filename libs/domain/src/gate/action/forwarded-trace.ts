import { sha256Hex } from '#libs/crypto';
import { traceparentOf } from '../../kernel/index.js';
import type { Submission } from './action.events.js';

const PARENT_DIGITS = 16;

/**
 * The header `traceparent` for a request that an action sends. It continues the agent's trace, with a parent id that is
 * derived from the action and the step, so a repeated computation gives the same header. Null if the agent sent no
 * trace context.
 * @param step distinguishes the requests of one action
 */
export const forwardedTrace = ({ action, trace }: Submission, step: string): string | null =>
  trace === undefined ? null : traceparentOf(trace, sha256Hex(`${action} ${step}`).slice(0, PARENT_DIGITS));
