import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { placeFailpoints, type Logger } from '#libs/domain/kernel';
import { ArmedFailpoints } from './armed-failpoints.js';
import { parseFailpoints, type FailpointOrder } from './failpoint-orders.js';

/** In the state directory: what SIGUSR2 arms, in the place of all that was armed before. */
const ORDERS_FILE = 'failpoints';

/**
 * Arms failpoints for the rest of this process, and again at every SIGUSR2 from a file in the state directory. Each arming
 * begins to count hits anew.
 * @param text as in SERVICE_FAILPOINTS
 * @throws {InvalidFailpoints}
 */
export const startFailpoints = (text: string, stateDir: string, logger: Logger): void => {
  const onActing = ({ point, action }: FailpointOrder): void =>
    logger.warn('a failpoint acts', { failpoint: point, action: action.kind });
  const onDelayed = ({ point }: FailpointOrder): void =>
    logger.warn('a failpoint lets go of its caller', { failpoint: point });
  const arm = (orders: string): void => {
    placeFailpoints(new ArmedFailpoints(parseFailpoints(orders), onActing, onDelayed));
    logger.warn('failpoints are armed: this process fails on purpose', { failpoints: orders.trim() });
  };
  arm(text);
  process.on('SIGUSR2', () => {
    readFile(join(stateDir, ORDERS_FILE), 'utf8')
      .then(arm)
      .catch((error: unknown) => logger.error('failpoints stay as they were', { error }));
  });
};
