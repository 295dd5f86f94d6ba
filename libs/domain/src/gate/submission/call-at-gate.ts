import { agentDecider, type LivingAgent } from '../../agents/index.js';
import { connectorDecider, connectorStreamId, type ConnectorState } from '../../connectors/index.js';
import { DomainError, streamRef, missingStream, type ActionId, type Folded, type OrgId } from '../../kernel/index.js';
import { organizationDecider, type LivingOrganization } from '../../people/index.js';
import { actionDecider, type Action } from '../action/index.js';
import type { GateKernel } from '../kernel/index.js';
import { intendedRequest } from './judge-intent.js';
import { isKnownToEdgeAlone, resolveTool, type CanonicalRequest, type ResolvedTool } from '../judgement/index.js';
import type { SubmitAction } from './submit-action.command.js';

/** One call and everything that its decision reads. The steps of the gate read it and do not change it. */
export interface CallAtGate {
  readonly command: SubmitAction;
  /** The request after checks 1 to 12 of its signed intent, if the agent's intent mode asks for one. */
  readonly request: CanonicalRequest;
  readonly id: ActionId;
  readonly agent: LivingAgent;
  readonly org: LivingOrganization;
  readonly connector: ConnectorState | null;
  readonly resolved: ResolvedTool | null;
  readonly action: Folded<Action>;
  /**
   * The revisions that the append must require, because the call was read from the cache. Null if it was read from the
   * store.
   */
  readonly requires: ReadonlyMap<string, number> | null;
}

/**
 * Reads everything the decision needs from the store, as it is after the call came in (rule GATE-2).
 * @throws {IntentRefused}
 * @throws {DomainError} invalid_api_key
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
 * The call with everything its decision reads, from this process's cache. Null if a stream is not cached, or the cached
 * state refuses the caller's key; the cache may be stale, so ask the store.
 * @throws {IntentRefused} by the cached keys and intent mode, which may be stale too
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
  // The cache may be newer than what the access guard has read.
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

/**
 * The action's stream before the append. Without an Idempotency-Key the id is random and new, so the stream is taken to
 * be empty without a read; if it were not, the append at `no_stream` would fail.
 */
export const actionBefore = (
  gate: GateKernel,
  { idempotencyKey }: CanonicalRequest,
  id: ActionId,
): Promise<Folded<Action>> | Folded<Action> => {
  const ref = streamRef(actionDecider, id);
  return idempotencyKey === null ? missingStream(ref) : gate.streams.load(ref);
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
