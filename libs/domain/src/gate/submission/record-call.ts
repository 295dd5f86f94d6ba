import type { Salt } from '#libs/crypto';
import { type Append, type AppendResult, type CommandResult, type Payload } from '../../kernel/index.js';
import {
  type ActionCommand,
  actionDecider,
  type Submission,
  type Action,
  type IdempotentIds,
} from '../action/index.js';
import type { GateKernel } from '../kernel/index.js';
import { submissionOf } from '../judgement/index.js';
import type { CallAtGate } from './call-at-gate.js';

type Accepted = Extract<ActionCommand, { type: 'SubmitAction' }>['data'];

/** The policy input as it is stored, with the salt under which deeds commit to it. */
export type InputDocument = Pick<Payload, 'body' | 'digest'> & { readonly salt: Salt };

export const submissionOfCall = (ids: IdempotentIds, call: CallAtGate, document: InputDocument): Submission => {
  const { command, request, id, agent, resolved } = call;
  const idempotencyKeyHash =
    request.idempotencyKey === null ? null : ids.keyHash(command.org, command.agent, request.idempotencyKey);
  return submissionOf(request, id, agent, resolved, { document, idempotencyKeyHash });
};

/**
 * Records the call in one append at `no_stream`, together with the policy input, and requires the revisions of the
 * streams that were read from the cache.
 * @throws {DomainError} conflict if the action's stream already exists
 * @throws {RequirementMoved} if a cached stream has a newer revision; nothing was written
 * @throws {StoreUnavailable} if there was no clear answer
 */
export const record = (
  gate: GateKernel,
  { command, id, action, requires }: CallAtGate,
  document: InputDocument,
  data: Accepted,
): Promise<CommandResult<Action>> => {
  const { org, actor, requestId, commandId, now } = command.metadata;
  const metadata = { org, actor, requestId, commandId, correlation: id, now };
  const payload: Payload = { owner: id, org: command.org, kind: 'policy_input', ...document };
  const append = (events: Append): Promise<AppendResult> => gate.appends.append(events, { payload, requires });
  return gate.runner.run(actionDecider, id, { type: 'SubmitAction', data, metadata }, metadata, {
    known: action,
    append,
  });
};
