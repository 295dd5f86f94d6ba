import type { ErrorCode } from '../../kernel/index.js';
import { type ConnectorState, isLive, type LiveConnector } from '../connector.state.js';
import type { ConnectorStreams } from '../connector-streams.js';

/** Why nothing may be sent with what was read of a connector; null where it still stands. */
export const changeSince = async (
  connectors: ConnectorStreams,
  connector: LiveConnector,
): Promise<ErrorCode | null> => {
  const { state } = await connectors.load(connector.org, connector.name);
  return changeBetween(connector, state);
};

/** The same of a state that was just read. */
export const changeBetween = ({ id, configHash, credential }: LiveConnector, now: ConnectorState): ErrorCode | null => {
  if (!isLive(now) || now.id !== id) return 'not_found';
  const isSame = now.configHash === configHash && now.credential?.version === credential?.version;
  return isSame ? null : 'conflict';
};
