import { agentDecider, type LivingAgent } from '../../agents/index.js';
import { connectorDecider, connectorStreamId, type ConnectorState } from '../../connectors/index.js';
import { DomainError, streamRef, unbegun, type ActionId, type Folded, type OrgId } from '../../kernel/index.js';
import { organizationDecider, type LivingOrganization } from '../../people/index.js';
import { actionDecider } from '../action.decider.js';
import type { Action } from '../action.state.js';
import type { GateKernel } from '../gate-kernel.js';
import { intendedRequest } from '../judge-intent.js';
import { isKnownToEdgeAlone, resolveTool, type CanonicalRequest, type ResolvedTool } from '../submission.js';
import type { SubmitAction } from './submit-action.command.js';

/** One call and all that its decision reads: what every step of the gate is given and none changes. */
export interface CallAtGate {
  readonly command: SubmitAction;
  /** As its signed intent, where one counts, lets it stand: checks 1 to 12 are behind it. */
  readonly request: CanonicalRequest;
  readonly id: ActionId;
  readonly agent: LivingAgent;
  readonly org: LivingOrganization;
  readonly connector: ConnectorState | null;
  readonly resolved: ResolvedTool | null;
  readonly action: Folded<Action>;
  /** What of it the append must require, since nobody was asked; null where somebody was. */
  readonly requires: ReadonlyMap<string, number> | null;
}

/**
 * All that the decision reads, none of it older than the call (rule GATE-2).
 * @throws {IntentRefused}
 */
export const askedCall = async (
  gate: GateKernel,
  command: SubmitAction,
  sent: CanonicalRequest,
  id: ActionId,
): Promise<CallAtGate> => {
  const since = command.since === 'remembered' ? undefined : command.since;
  const { connector: connectorRef, ...refs } = refsOf(command, sent);
  const [loaded, action] = await Promise.all([
    connectorRef
      ? gate.streams.loadAll({ ...refs, connector: connectorRef }, { since })
      : { ...(await gate.streams.loadAll(refs, { since })), connector: null },
    actionBefore(gate, sent, id),
  ]);
  const [agent, org] = [loaded.agent.state, loaded.org.state];
  if (agent.status === 'none' || org.status === 'none') throw new DomainError('invalid_api_key');
  const request = intendedRequest(sent, agent, command.metadata.now);
  const connector = loaded.connector?.state ?? null;
  const resolved = connector ? resolveTool(request, connector, gate.registry) : null;
  return { command, request, id, agent, org, connector, resolved, action, requires: null };
};

/**
 * Null where something is not remembered, or shuts the caller out, which may long be otherwise.
 * @throws {IntentRefused} by the keys and the mode as they are remembered, which may long be otherwise, too
 */
export const rememberedCall = (
  gate: GateKernel,
  command: SubmitAction,
  sent: CanonicalRequest,
  id: ActionId,
  action: Folded<Action>,
): CallAtGate | null => {
  const refs = refsOf(command, sent);
  const agent = gate.streams.known(refs.agent);
  const org = gate.streams.known(refs.org);
  const connector = refs.connector && gate.streams.known(refs.connector);
  if (agent === null || org === null || (refs.connector !== null && connector === null)) return null;
  if (agent.state.status === 'none' || org.state.status === 'none') return null;
  const key = agent.state.keys.get(sent.key);
  // As known now, which may be more than the guard knew.
  if (!key || key.revokedAt !== null) return null;
  if (key.expiresAt !== null && key.expiresAt <= command.metadata.now) return null;
  const request = intendedRequest(sent, agent.state, command.metadata.now);
  return {
    command,
    request,
    id,
    agent: agent.state,
    org: org.state,
    connector: connector?.state ?? null,
    resolved: connector ? resolveTool(request, connector.state, gate.registry) : null,
    action,
    requires: revisionsOf([agent, org, ...(connector ? [connector] : [])]),
  };
};

/** An id that was drawn a moment ago names nothing yet; were it otherwise, the append would say so. */
export const actionBefore = (
  gate: GateKernel,
  { idempotencyKey }: CanonicalRequest,
  id: ActionId,
): Promise<Folded<Action>> | Folded<Action> => {
  const ref = streamRef(actionDecider, id);
  return idempotencyKey === null ? unbegun(ref) : gate.streams.load(ref);
};

const refsOf = ({ agent, org }: SubmitAction, request: CanonicalRequest) => ({
  agent: streamRef(agentDecider, agent),
  org: streamRef(organizationDecider, org),
  connector: connectorRefOf(org, request),
});

const connectorRefOf = (org: OrgId, request: CanonicalRequest) =>
  request.name === null || isKnownToEdgeAlone(request)
    ? null
    : streamRef(connectorDecider, connectorStreamId(org, request.name.connector));

const revisionsOf = (streams: readonly Folded<unknown>[]): ReadonlyMap<string, number> =>
  new Map(streams.map(({ stream, revision }) => [stream, revision as number]));
