import type { Digest } from '#libs/crypto';
import {
  timestampOf,
  type Append,
  type AppendResult,
  type CommandResult,
  type Payload,
  type PayloadStore,
} from '../../kernel/index.js';
import type { ActionCommand } from '../action.commands.js';
import { actionDecider } from '../action.decider.js';
import type { Submission } from '../action.events.js';
import type { Action } from '../action.state.js';
import type { GateKernel } from '../gate-kernel.js';
import type { IdempotentIds } from '../idempotent-id.js';
import { submissionOf, type ResolvedTool } from '../submission.js';
import type { CallAtGate } from './call-at-gate.js';

type Accepted = Extract<ActionCommand, { type: 'SubmitAction' }>['data'];

export const submissionOfCall = (ids: IdempotentIds, call: CallAtGate, digest: Digest): Submission => {
  const { command, request, id, agent, resolved } = call;
  const idempotencyKeyHash =
    request.idempotencyKey === null ? null : ids.keyHash(command.org, command.agent, request.idempotencyKey);
  return submissionOf(request, id, agent, resolved, { digest, idempotencyKeyHash });
};

export const executionOf = (
  { tool }: ResolvedTool,
  now: string,
  startTimeoutMs: number,
): NonNullable<Accepted['execution']> => ({
  class: tool.isRepeatable ? ('repeatable' as const) : ('once' as const),
  timeoutMs: tool.timeoutMs,
  startBy: timestampOf(Date.parse(now) + startTimeoutMs),
  hasReadBack: tool.readBack !== undefined,
});

/** The terms of a call that the agent runs itself: the deadline of its report. */
export const edgeOf = (now: string, edgeResultTimeoutMs: number): NonNullable<Accepted['edge']> => ({
  deadline: timestampOf(Date.parse(now) + edgeResultTimeoutMs),
});

/**
 * Records the call in one append at `no_stream`, together with the policy input, and requires the revisions of the
 * streams that were read from the cache.
 * @throws {DomainError} conflict if the action's stream already exists
 * @throws {RequirementMoved} if a cached stream has a newer revision; nothing was written
 * @throws {StoreUnavailable} if there was no clear answer
 */
export const record = (
  gate: GateKernel,
  payloads: PayloadStore,
  { command, id, action, requires }: CallAtGate,
  document: Pick<Payload, 'body' | 'digest'>,
  data: Accepted,
): Promise<CommandResult<Action>> => {
  const { org, actor, requestId, commandId, now } = command.metadata;
  const metadata = { org, actor, requestId, commandId, correlation: id, now };
  const payload: Payload = { owner: id, org: command.org, kind: 'policy_input', ...document };
  const append = (events: Append): Promise<AppendResult> =>
    payloads.append(gate.store, requires === null ? events : { requires, ...events }, payload);
  return gate.runner.run(actionDecider, id, { type: 'SubmitAction', data, metadata }, metadata, {
    known: action,
    append,
  });
};
