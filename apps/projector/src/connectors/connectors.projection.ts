import { connectorDecider, isLive, type ConnectorEvent, type ConnectorState } from '#libs/domain/connectors';
import { ConnectorRow } from '#libs/infra/read-models';
import type { EventEnvelope, EventTypes } from '#libs/domain/kernel';
import { keysToLoad, type Projection } from '../projection.js';

const CONNECTOR_EVENTS: EventTypes<ConnectorEvent> = {
  ConnectorCreated: true,
  ConnectorUpdated: true,
  ConnectorDisabled: true,
  ConnectorDeleted: true,
  ConnectorCredentialsUpdated: true,
  ConnectorCredentialsRemoved: true,
  ConnectorToolsRecorded: true,
  ConnectorToolsAccepted: true,
};

/** Rows of GET /v1/connectors: one for each live connector, by its id. A name's next life is another connector. */
export const connectorsProjection: Projection = {
  name: 'connectors',
  version: 2,
  follows: { connector: CONNECTOR_EVENTS },
  rowTypes: [ConnectorRow],

  async project(events, rows) {
    const loaded = await rows.select(ConnectorRow, keysToLoad(events, connectorOf, beginsConnector));
    const connectors = new Map<string, ConnectorState>(loaded.map((row) => [row.id, row.folded]));
    for (const envelope of events) {
      const id = connectorOf(envelope);
      const state = connectors.get(id) ?? connectorDecider.initialState();
      connectors.set(id, connectorDecider.evolve(state, envelope.event as ConnectorEvent));
    }
    const gone = [...connectors].filter(([, state]) => !isLive(state)).map(([id]) => id);
    await rows.remove(ConnectorRow, gone);
    await rows.upsert(ConnectorRow, [...connectors.values()].flatMap(connectorRows));
  },
};

const connectorOf = ({ event }: EventEnvelope): string => (event as ConnectorEvent).data.connector;

const beginsConnector = ({ event }: EventEnvelope): boolean => (event as ConnectorEvent).type === 'ConnectorCreated';

const connectorRows = (state: ConnectorState): readonly ConnectorRow[] => {
  if (!isLive(state)) return [];
  const { id, org, name, type, status, createdAt } = state;
  return [{ id, org, name, type, status, createdAt, folded: state }];
};
