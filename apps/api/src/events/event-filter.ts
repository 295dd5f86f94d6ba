import { PUBLIC_EVENT_TYPES, type PublicEvent, type PublicEventType } from '#libs/domain/events';
import { parseId, type AgentId } from '#libs/domain/kernel';
import type { Principal } from '../http/authenticator.port.js';
import { queryProblem } from '../http/query-string.js';

/** Of the parameter `types` (rule EVENT-2). */
const TYPES_MAX_CHARACTERS = 1_200;
/** Of a word that is no type, in the error that names it. */
const NAMED_CHARACTERS = 64;
const EVERY_OF_FAMILY = '.*';
/** What an agent's key sees, of its own agent. Admin deeds are nobody's. */
const SEEN_BY_AGENTS = /^(?:action|approval)\.|^deed\.sealed$/;

/** Whose eyes an event is written for: an organization's, or one agent's. */
export type EventVariant = 'organization' | 'agent';

/** What one stream shows: what its credential may see, and of that what was asked for. */
export class EventFilter {
  readonly variant: EventVariant;

  constructor(
    private readonly viewer: AgentId | null,
    private readonly types: ReadonlySet<PublicEventType> | null,
    private readonly agent: AgentId | null,
  ) {
    this.variant = viewer === null ? 'organization' : 'agent';
  }

  shows({ type, agent }: Pick<PublicEvent, 'type' | 'agent'>): boolean {
    if (this.viewer !== null && (agent !== this.viewer || !SEEN_BY_AGENTS.test(type))) return false;
    return (this.types === null || this.types.has(type)) && (this.agent === null || agent === this.agent);
  }
}

/** As sent; absent where nothing was asked for. */
export interface EventFilterParameters {
  readonly types?: string;
  readonly agent?: string;
}

/** @throws {DomainError} validation_failed, param `types` or `agent` */
export const parseEventFilter = ({ types, agent }: EventFilterParameters, caller: Principal): EventFilter => {
  const viewer = caller.kind === 'agent' ? caller.agent : null;
  return new EventFilter(viewer, parseTypes(types), parseAgent(agent, viewer));
};

const parseTypes = (text: string | undefined): ReadonlySet<PublicEventType> | null => {
  if (text === undefined) return null;
  if (text.length > TYPES_MAX_CHARACTERS) {
    throw queryProblem('types', `must have at most ${TYPES_MAX_CHARACTERS} characters`);
  }
  return new Set(text.split(',').flatMap(typesNamed));
};

const typesNamed = (name: string): readonly PublicEventType[] => {
  const family = name.endsWith(EVERY_OF_FAMILY) ? name.slice(0, -1) : null;
  const named = PUBLIC_EVENT_TYPES.filter((type) =>
    family === null ? type === name : family.length > 1 && type.startsWith(family),
  );
  if (named.length > 0) return named;
  throw queryProblem(
    'types',
    'must be a comma list of event types and families, such as deed.sealed,action.*',
    `${JSON.stringify(name.slice(0, NAMED_CHARACTERS))} is none. The types are ${PUBLIC_EVENT_TYPES.join(', ')}.`,
  );
};

const parseAgent = (text: string | undefined, viewer: AgentId | null): AgentId | null => {
  if (text === undefined) return null;
  const agent = parseId('agt', text);
  if (agent === null) throw queryProblem('agent', 'must be the id of an agent');
  if (viewer !== null && agent !== viewer) {
    throw queryProblem('agent', 'must be the agent of this key', 'Leave it out to see all that the key may see.');
  }
  return agent;
};
