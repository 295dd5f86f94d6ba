import { isLive, isNamedByServer, type ConnectorState } from '../../connectors/index.js';
import { stopCodeOf } from '../../agents/index.js';
import type { GateKernel } from '../kernel/index.js';
import type { CallAtGate } from './call-at-gate.js';

/** Of a look at a server's tools, for which the decision waits. */
const LOOK_MS = 10_000;

/**
 * Whether the call names a tool that the log does not know, of a connector whose server names the tools: what a call of it
 * comes to may only be that the log is older than the tool. A Stop is the answer without asking.
 */
export const mayBeNamedSince = ({ request, connector, resolved, agent, org, action }: CallAtGate): boolean =>
  resolved === null &&
  // The answer to a used key is its action's, whatever the server says by now.
  action.revision === 'no_stream' &&
  request.name !== null &&
  connector !== null &&
  isLive(connector) &&
  connector.status === 'active' &&
  isNamedByServer(connector.type) &&
  stopCodeOf(agent.status, org.status) === null;

/** Has the server asked, at most once a second however many such calls there are. What it says then is in the log. */
export const askServer = async (
  { registry, clock }: Pick<GateKernel, 'registry' | 'clock'>,
  connector: ConnectorState | null,
): Promise<void> => {
  if (connector === null || !isLive(connector)) return;
  await registry.driverOf(connector.type)?.refreshTools({
    connector,
    deadlineMonotonicMs: clock.monotonicMs() + LOOK_MS,
    // Nothing is called; what the agent may do is judged after it.
    mayStillSend: () => Promise.resolve(null),
    isYoungEnough: true,
  });
};
