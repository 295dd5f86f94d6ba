import { timestampOf } from '../../kernel/index.js';
import type { EdgeTerms, ExecutionTerms } from '../action/index.js';
import type { ResolvedTool } from './call-request.js';

/** How the service runs a call: once or repeatably, within which time, and what confirms it. */
export const executionOf = ({ tool }: ResolvedTool, now: string, startTimeoutMs: number): ExecutionTerms => ({
  class: tool.isRepeatable ? ('repeatable' as const) : ('once' as const),
  timeoutMs: tool.timeoutMs,
  startBy: timestampOf(Date.parse(now) + startTimeoutMs),
  hasReadBack: tool.readBack !== undefined,
  ...(tool.changeLog === undefined ? {} : { changeLogTimeoutMs: tool.changeLog.timeoutMs }),
});

/** The terms of a call that the agent runs itself: the deadline of its report. */
export const edgeOf = (now: string, edgeResultTimeoutMs: number): EdgeTerms => ({
  deadline: timestampOf(Date.parse(now) + edgeResultTimeoutMs),
});
