import { sha256Hex } from '#libs/crypto';
import { traceparentOf } from '../kernel/index.js';
import type { Submission } from './action.events.js';

const PARENT_DIGITS = 16;

/**
 * Header `traceparent` of a request that an action sends: of the trace that its agent named, with a parent of its own for each
 * step, the same however often it is worked out. Null where the agent named none.
 * @param step told apart from the other requests of the action
 */
export const forwardedTrace = ({ action, trace }: Submission, step: string): string | null =>
  trace === undefined ? null : traceparentOf(trace, sha256Hex(`${action} ${step}`).slice(0, PARENT_DIGITS));
