import { credentialKindOf } from './connector-types.js';
import type { LiveConnector } from './connector.state.js';

/**
 * Whether the log does not say which tools the server of an active connector has: there is no list, or none since the
 * config or the credential changed. A server that lists the same as before leaves nothing in the log, so this says who may
 * have to be asked, and never that nobody was.
 */
export const isLookOwed = (connector: LiveConnector): boolean => {
  const { status, configHash, credential, listedWith } = connector;
  if (status !== 'active' || !canBeAsked(connector)) return false;
  return listedWith?.configHash !== configHash || listedWith.credentialVersion !== (credential?.version ?? null);
};

/** Without a credential of the kind that the config asks for nothing is sent. */
const canBeAsked = (connector: LiveConnector): boolean => {
  const kind = credentialKindOf(connector);
  return kind === 'none' || connector.credential?.kind === kind;
};
