import type { LiveConnector, TrippedBreaker } from '../../connectors/index.js';
import type { ActionId, ExpectedRevision, Logger } from '../../kernel/index.js';
import type { GateKernel } from '../kernel/index.js';
import { patiently } from './patiently.js';

/**
 * Disables a connector for what a request of the action has shown, before that is recorded: a crash between the two leaves
 * a connector that sends nothing, and an outcome that nobody knows. Where the store stays away, this process sends nothing
 * for the connector any more, and its next call disables it.
 */
export const tripBreaker = async (
  { breakers, clock }: Pick<GateKernel, 'breakers' | 'clock'>,
  logger: Logger,
  action: ActionId,
  { connector, breaker }: { readonly connector: LiveConnector; readonly breaker: TrippedBreaker },
): Promise<void> => {
  const facts = { action_id: action, connector: connector.id, reason: breaker.reason };
  try {
    await patiently(
      clock,
      () => breakers.trip(connector, breaker),
      (error) => logger.warn('a connector could not be disabled yet', { ...facts, error }),
    );
  } catch (error) {
    logger.error('a connector could not be disabled', { ...facts, error });
  }
};

/** Whether nothing may be sent for a connector. Where its stream does not say so yet, it is written to first. */
export const isHeldByBreaker = async (
  { breakers }: Pick<GateKernel, 'breakers'>,
  logger: Logger,
  connector: LiveConnector,
  revision: ExpectedRevision,
): Promise<boolean> => {
  if (!breakers.isTripped(connector, revision)) return false;
  try {
    await breakers.settle(connector);
  } catch (error) {
    logger.warn('a connector could not be disabled yet', { connector: connector.id, error });
  }
  return true;
};
