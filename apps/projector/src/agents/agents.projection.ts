import { agentDecider, agentOfList, listedAgent, type Agent, type AgentEvent } from '#libs/domain/agents';
import { AgentRow } from '#libs/infra/read-models';
import { idInStream, type EventEnvelope, type EventTypes } from '#libs/domain/kernel';
import { keysToLoad, type Projection } from '../projection.js';

const AGENT_EVENTS: EventTypes<AgentEvent> = {
  AgentRegistered: true,
  AgentKeyCreated: true,
  AgentKeyRolled: true,
  AgentKeyRevoked: true,
  AgentIntentKeyAdded: true,
  AgentIntentKeyRemoved: true,
  AgentIntentModeSet: true,
  AgentLabelsSet: true,
  AgentBudgetsSet: true,
  AgentStopped: true,
  AgentSuspended: true,
  AgentResumed: true,
};

/** Rows of GET /v1/agents: the agent as its own stream tells it. */
export const agentsProjection: Projection = {
  name: 'agents',
  version: 1,
  follows: { agent: AGENT_EVENTS },
  rowTypes: [AgentRow],

  async project(events, rows) {
    const loaded = await rows.select(AgentRow, keysToLoad(events, agentOf, beginsAgent));
    const agents = new Map<string, Agent>(loaded.map((row) => [row.id, agentOfList(row.folded)]));
    for (const envelope of events) {
      const id = agentOf(envelope);
      const agent = agents.get(id) ?? agentDecider.initialState();
      agents.set(id, agentDecider.evolve(agent, envelope.event as AgentEvent));
    }
    await rows.upsert(AgentRow, [...agents.values()].flatMap(agentRows));
  },
};

const agentOf = ({ recorded }: EventEnvelope): string => idInStream(recorded.stream);

const beginsAgent = ({ recorded }: EventEnvelope): boolean => recorded.revision === 0;

const agentRows = (agent: Agent): readonly AgentRow[] => {
  if (agent.status === 'none') return [];
  const { agent: id, org, name, status, createdAt } = agent;
  return [{ id, org, name, status, createdAt, folded: listedAgent(agent) }];
};
