import { agentDecider, type AgentEvent } from '#libs/domain/agents';
import { connectorDecider, toolsBriefAfter, type ConnectorEvent } from '#libs/domain/connectors';
import {
  publicIdOf,
  toldByAction,
  toldByAgent,
  toldByConnector,
  toldByDecoder,
  toldByLedger,
  toldByOrganization,
  type Told,
} from '#libs/domain/events';
import { actionDecider, briefAfter, type ActionEvent } from '#libs/domain/gate';
import {
  categoryOf,
  idInStream,
  PUBLIC_EVENTS_CHANNEL,
  type EventEnvelope,
  type EventTypes,
} from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import { organizationDecider, type OrganizationEvent } from '#libs/domain/people';
import { decoderDecider, type DecoderEvent } from '#libs/domain/witness';
import {
  BriefedActionRow,
  BriefedConnectorRow,
  type IdentifiedRow,
  PUBLIC_EVENT_FLOOR,
  PublicEventRow,
} from '#libs/infra/read-models';
import { keysToLoad, type Projection } from '../projection.js';

const LEDGER_EVENTS: EventTypes<LedgerEvent> = { DeedSealed: true };

/**
 * Rows of the public events, from which streams are told and webhooks are sent: what each recorded event tells, in the
 * order of the log. Beside them what the events of an action or of a connector say only once.
 */
export const publicEventsProjection: Projection = {
  name: 'public_events',
  version: 3,
  follows: {
    action: actionDecider.eventTypes,
    ledger: LEDGER_EVENTS,
    agent: agentDecider.eventTypes,
    org: organizationDecider.eventTypes,
    connector: connectorDecider.eventTypes,
    decoder: decoderDecider.eventTypes,
  },
  rowTypes: [PublicEventRow, BriefedActionRow, BriefedConnectorRow],
  floor: PUBLIC_EVENT_FLOOR,
  bell: PUBLIC_EVENTS_CHANNEL,

  async project(events, rows) {
    const briefs: AllBriefs = {
      actions: new Briefs(await rows.select(BriefedActionRow, keysToLoad(events, actionOf, beginsAction))),
      connectors: new Briefs(await rows.select(BriefedConnectorRow, keysToLoad(events, connectorOf, beginsConnector))),
    };
    const told = events.flatMap((envelope) => {
      const said = saidBy(envelope, briefs);
      return said === null ? [] : [rowOf(envelope, said)];
    });
    await rows.upsert(PublicEventRow, told);
    await rows.upsert(BriefedActionRow, briefs.actions.changed());
    await rows.upsert(BriefedConnectorRow, briefs.connectors.changed());
    await rows.remove(BriefedConnectorRow, briefs.connectors.gone());
  },
};

/** Of the things of one kind that a batch is about. */
class Briefs<Row extends IdentifiedRow & { readonly brief: unknown }> {
  private readonly known: Map<string, Row['brief']>;
  private readonly touched = new Set<string>();

  constructor(loaded: readonly Row[]) {
    this.known = new Map(loaded.map(({ id, brief }) => [id, brief]));
  }

  find(id: string | null): Row['brief'] | null {
    return id === null ? null : (this.known.get(id) ?? null);
  }

  /** @param brief null: it is gone */
  keep(id: string, brief: Row['brief'] | null): void {
    if (brief === null) this.known.delete(id);
    else this.known.set(id, brief);
    this.touched.add(id);
  }

  changed(): readonly Row[] {
    return [...this.touched].flatMap((id) => (this.known.has(id) ? [{ id, brief: this.known.get(id) } as Row] : []));
  }

  gone(): readonly string[] {
    return [...this.touched].filter((id) => !this.known.has(id));
  }
}

interface AllBriefs {
  readonly actions: Briefs<BriefedActionRow>;
  readonly connectors: Briefs<BriefedConnectorRow>;
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

/** Its stream is that of its name, and holds every connector that ever had it. */
const connectorOf = ({ event, recorded }: EventEnvelope): string | null =>
  categoryOf(recorded.stream) === connectorDecider.category ? (event as ConnectorEvent).data.connector : null;

const beginsConnector = ({ event }: EventEnvelope): boolean => (event as ConnectorEvent).type === 'ConnectorCreated';

const saidBy = (envelope: EventEnvelope, { actions, connectors }: AllBriefs): Told | null => {
  const { event, recorded } = envelope;
  switch (categoryOf(recorded.stream)) {
    case 'action':
      return saidOfAction(envelope, actions);
    case 'ledger':
      return toldByLedger(event as LedgerEvent, actions.find(actionOf(envelope)));
    case 'agent':
      return toldByAgent(event as AgentEvent);
    case 'connector':
      return saidOfConnector(event as ConnectorEvent, connectors);
    case 'decoder':
      return toldByDecoder(event as DecoderEvent);
    default:
      return toldByOrganization(event as OrganizationEvent);
  }
};

const saidOfAction = (envelope: EventEnvelope, briefs: AllBriefs['actions']): Told | null => {
  const id = idInStream(envelope.recorded.stream);
  const before = briefs.find(id);
  // What follows an id that was given up never was of an action.
  if (before === null && !beginsAction(envelope)) return null;
  const after = briefAfter(before, envelope.event as ActionEvent);
  if (after === null || after === before) return null;
  briefs.keep(id, after);
  return toldByAction(envelope.event as ActionEvent, after);
};

const saidOfConnector = (event: ConnectorEvent, briefs: AllBriefs['connectors']): Told | null => {
  const { connector } = event.data;
  const before = briefs.find(connector);
  const after = toolsBriefAfter(before, event);
  if (after !== before) briefs.keep(connector, after);
  return toldByConnector(event, before, after);
};

const rowOf = ({ recorded }: EventEnvelope, told: Told): PublicEventRow => ({
  seq: recorded.position.toString(),
  evt: publicIdOf(recorded.id),
  ...told,
});
