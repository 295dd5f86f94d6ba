import { agentDecider, type AgentEvent } from '#libs/domain/agents';
import {
  publicIdOf,
  toldByAction,
  toldByAgent,
  toldByLedger,
  toldByOrganization,
  type Told,
} from '#libs/domain/events';
import { actionDecider, briefAfter, type ActionBrief, type ActionEvent } from '#libs/domain/gate';
import {
  categoryOf,
  idInStream,
  PUBLIC_EVENTS_CHANNEL,
  type ActionId,
  type EventEnvelope,
  type EventTypes,
} from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import { organizationDecider, type OrganizationEvent } from '#libs/domain/people';
import { BriefedActionRow, PUBLIC_EVENT_FLOOR, PublicEventRow } from '#libs/infra/read-models';
import { keysToLoad, type Projection } from '../projection.js';

const LEDGER_EVENTS: EventTypes<LedgerEvent> = { DeedSealed: true };

/**
 * Rows of the public events, from which streams are told and webhooks are sent: what each recorded event tells, in the
 * order of the log. Beside them what the events of an action say only once.
 */
export const publicEventsProjection: Projection = {
  name: 'public_events',
  version: 1,
  follows: {
    action: actionDecider.eventTypes,
    ledger: LEDGER_EVENTS,
    agent: agentDecider.eventTypes,
    org: organizationDecider.eventTypes,
  },
  rowTypes: [PublicEventRow, BriefedActionRow],
  floor: PUBLIC_EVENT_FLOOR,
  bell: PUBLIC_EVENTS_CHANNEL,

  async project(events, rows) {
    const loaded = await rows.select(BriefedActionRow, keysToLoad(events, actionOf, beginsAction));
    const briefs = new Briefs(loaded);
    const told = events.flatMap((envelope) => {
      const said = saidBy(envelope, briefs);
      return said === null ? [] : [rowOf(envelope, said)];
    });
    await rows.upsert(PublicEventRow, told);
    await rows.upsert(BriefedActionRow, briefs.changed());
  },
};

/** Of the actions that a batch is about. */
class Briefs {
  private readonly known: Map<string, ActionBrief>;
  private readonly touched = new Set<string>();

  constructor(loaded: readonly BriefedActionRow[]) {
    this.known = new Map(loaded.map(({ id, brief }) => [id, brief]));
  }

  find(action: string | null): ActionBrief | null {
    return action === null ? null : (this.known.get(action) ?? null);
  }

  keep(action: string, brief: ActionBrief): void {
    this.known.set(action, brief);
    this.touched.add(action);
  }

  changed(): readonly BriefedActionRow[] {
    return [...this.touched].map((id) => ({ id: id as ActionId, brief: this.known.get(id) as ActionBrief }));
  }
}

const actionOf = ({ event, recorded }: EventEnvelope): string | null => {
  switch (categoryOf(recorded.stream)) {
    case 'action':
      return idInStream(recorded.stream);
    case 'ledger':
      return (event as LedgerEvent).data.action;
    default:
      return null;
  }
};

const beginsAction = ({ recorded }: EventEnvelope): boolean =>
  recorded.revision === 0 && categoryOf(recorded.stream) === 'action';

const saidBy = (envelope: EventEnvelope, briefs: Briefs): Told | null => {
  const { event, recorded } = envelope;
  switch (categoryOf(recorded.stream)) {
    case 'action':
      return saidOfAction(envelope, briefs);
    case 'ledger':
      return toldByLedger(event as LedgerEvent, briefs.find(actionOf(envelope)));
    case 'agent':
      return toldByAgent(event as AgentEvent);
    default:
      return toldByOrganization(event as OrganizationEvent);
  }
};

const saidOfAction = (envelope: EventEnvelope, briefs: Briefs): Told | null => {
  const id = idInStream(envelope.recorded.stream);
  const before = briefs.find(id);
  // What follows an id that was given up never was of an action.
  if (before === null && !beginsAction(envelope)) return null;
  const after = briefAfter(before, envelope.event as ActionEvent);
  if (after === null || after === before) return null;
  briefs.keep(id, after);
  return toldByAction(envelope.event as ActionEvent, after);
};

const rowOf = ({ recorded }: EventEnvelope, told: Told): PublicEventRow => ({
  seq: recorded.position.toString(),
  evt: publicIdOf(recorded.id),
  ...told,
});
