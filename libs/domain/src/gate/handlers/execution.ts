import type { JsonObject } from '#libs/crypto';
import { connectorDecider, connectorStreamId, type ConnectorState } from '../../connectors/index.js';
import {
  streamRef,
  SYSTEM,
  type ActionId,
  type CommandMetadata,
  type StreamRef,
  type Timestamp,
} from '../../kernel/index.js';
import type { Submission } from '../action.events.js';
import type { Action, ExecutionAttempt, LivingAction } from '../action.state.js';
import { parseToolName } from '../tool-name.js';

/**
 * What the commit of a claim found: agent, organization and connector at these revisions, and the claim as the current
 * one. This is as good as an answer to a question that was put when the append was sent.
 */
export interface FoundByCommit {
  /** When the append was sent, by the monotonic clock. */
  readonly askedAtMs: number;
  readonly revisions: ReadonlyMap<string, number>;
}

/** One attempt at an action that this process has claimed. */
export interface Execution {
  readonly id: ActionId;
  readonly action: LivingAction;
  readonly attempt: ExecutionAttempt;
  readonly args: JsonObject;
  readonly deadlineMonotonicMs: number;
  /** Of the claim's commit; null where it required nothing. */
  readonly found: FoundByCommit | null;
}

export const isLiving = (action: Action): action is LivingAction => 'submission' in action;

/** The connector that the action's tool name leads to. */
export const connectorRefOf = ({ org, tool }: Submission): StreamRef<ConnectorState> =>
  streamRef(connectorDecider, connectorStreamId(org, parseToolName(tool)?.connector ?? ''));

/** What an executor does, it does as the service itself. */
export const executorMetadata = ({ submission }: LivingAction, commandId: string, now: Timestamp): CommandMetadata => ({
  org: submission.org,
  actor: SYSTEM,
  requestId: null,
  commandId,
  correlation: submission.action,
  now,
});
