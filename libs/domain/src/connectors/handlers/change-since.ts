import type { ErrorCode } from '../../kernel/index.js';
import { isLive, type LiveConnector } from '../connector.state.js';
import type { ConnectorStreams } from '../connector-streams.js';

/** Why nothing may be sent with what was read of a connector; null where it still stands. */
export const changeSince = async (
  connectors: ConnectorStreams,
  { org, name, id, configHash, credential }: LiveConnector,
): Promise<ErrorCode | null> => {
  const { state } = await connectors.load(org, name);
  if (!isLive(state) || state.id !== id) return 'not_found';
  const isSame = state.configHash === configHash && state.credential?.version === credential?.version;
  return isSame ? null : 'conflict';
};
