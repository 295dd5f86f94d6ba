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
import type { Submission } from './action.events.js';
import type { Action, ExecutionAttempt, LivingAction } from './action.state.js';
import { parseToolName } from './tool-name.js';

/**
 * What the commit of a claim has checked: that agent, organization and connector were at these revisions, and the claim
 * was the current one. It is as good as a read of these streams at the time the append was sent.
 */
export interface FoundByCommit {
  /** When the append was sent, on the monotonic clock. */
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
  /** What the claim's commit has checked; null if it required no revisions. */
  readonly found: FoundByCommit | null;
}

export const isLiving = (action: Action): action is LivingAction => 'submission' in action;

/** The stream of the connector that the action's tool name names. */
export const connectorRefOf = ({ org, tool }: Submission): StreamRef<ConnectorState> =>
  streamRef(connectorDecider, connectorStreamId(org, parseToolName(tool)?.connector ?? ''));

/** Metadata of an executor's commands: the actor is the service itself. */
export const executorMetadata = ({ submission }: LivingAction, commandId: string, now: Timestamp): CommandMetadata => ({
  org: submission.org,
  actor: SYSTEM,
  requestId: null,
  commandId,
  correlation: submission.action,
  now,
});
