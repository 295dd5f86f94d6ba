import type { JsonObject } from '#libs/crypto';
import { agentDecider, stopCodeOf } from '../../agents/index.js';
import { connectorDecider, connectorStreamId, isLive, type RequestFacts } from '../../connectors/index.js';
import { type AgentId, type ErrorCode, type OrgId, streamRef } from '../../kernel/index.js';
import { organizationDecider } from '../../people/index.js';
import type { GateKernel } from '../kernel/index.js';
import type { ResolvedTool } from './call-request.js';

/** How long a decision waits for facts. Later than that they count as unreadable. */
const READ_MS = 2_000;

export interface FactsOf {
  readonly org: OrgId;
  /** Whose Stop ends the reading; null where a person looks. */
  readonly agent: AgentId | null;
  readonly args: JsonObject;
  /** What a decision was made by, where there is one: what only time changes stays as it was then. */
  readonly recorded: RequestFacts | null;
  /** Whether facts will do that were read a moment ago for another call. */
  readonly mayBeRemembered: boolean;
}

/** A tool with facts that its connector's system was asked for. */
export interface ToolWithFacts {
  readonly resolved: ResolvedTool;
  readonly isRemembered: boolean;
}

/** Whether the facts of a call need a read of the system behind its connector. */
export const needsReadFacts = (resolved: ResolvedTool | null): resolved is ResolvedTool =>
  resolved?.tool.readsFacts === true;

/**
 * The tool with facts that its connector's system was asked for. They are recorded with the decision, so nobody asks again
 * to replay it. What could not be read is said in the facts: the policy decides about such a call, too.
 */
export const withReadFacts = async (gate: GateKernel, resolved: ResolvedTool, of: FactsOf): Promise<ToolWithFacts> => {
  const { connector, tool, sideEffect } = resolved;
  const driver = gate.registry.driverOf(connector.type);
  if (driver === null) return { resolved, isRemembered: false };
  const {
    facts,
    breaker,
    isRemembered = false,
  } = await driver.readFacts({
    org: of.org,
    connector,
    toolName: tool.name,
    args: of.args,
    recorded: of.recorded,
    mayBeRemembered: of.mayBeRemembered,
    deadlineMonotonicMs: gate.clock.monotonicMs() + READ_MS,
    mayStillSend: () => mayRead(gate, resolved, of),
  });
  if (breaker !== undefined) await gate.breakers.trip(connector, breaker);
  return { resolved: { connector, tool, sideEffect, facts }, isRemembered };
};

/** Nothing is read for whom a Stop has met meanwhile, nor with a connector that is another one by now. */
const mayRead = async (
  { streams, breakers }: GateKernel,
  { connector }: ResolvedTool,
  { org, agent }: FactsOf,
): Promise<ErrorCode | null> => {
  const now = await streams.loadAll({
    org: streamRef(organizationDecider, org),
    connector: streamRef(connectorDecider, connectorStreamId(org, connector.name)),
  });
  const caller = agent === null ? null : await streams.load(streamRef(agentDecider, agent));
  const stopped = stopCodeOf(caller?.state.status ?? 'active', now.org.state.status);
  if (stopped !== null) return stopped;
  const { state, revision } = now.connector;
  const isAsItWas = isLive(state) && state.status === 'active' && state.configHash === connector.configHash;
  if (!isAsItWas || state.id !== connector.id) return 'connector_unavailable';
  if (!breakers.isTripped(connector, revision)) return null;
  await breakers.settle(connector);
  return 'connector_unavailable';
};
