import type { DataSource } from 'typeorm';
import type { Logger } from '#libs/domain/kernel';
import { readModelSource } from '#libs/infra/read-models';

/** Clearing and exchanging tables takes as long as it takes. */
const NO_STATEMENT_TIMEOUT = 0;

/** Connections that write projections: what they lose in a crash is folded again. */
export const openProjectionSource = (
  connectionString: string,
  applicationName: string,
  maxConnections: number,
  logger: Logger,
): Promise<DataSource> =>
  readModelSource({
    connectionString,
    applicationName,
    maxConnections,
    statementTimeoutMs: NO_STATEMENT_TIMEOUT,
    isDurable: false,
    onError: (error) => logger.warn('an idle database connection was lost', { error }),
  }).initialize();
