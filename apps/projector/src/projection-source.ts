import type { DataSource } from 'typeorm';
import type { Logger } from '#libs/domain/kernel';
import { readModelSource } from '#libs/infra/read-models';

/** Folding a batch takes milliseconds; a server that needs longer has gone away, and its connection is given up. */
export const BATCH_TIMEOUT_MS = 10_000;
/** Clearing and exchanging tables takes as long as it takes. */
export const NO_TIMEOUT = 0;

export interface ProjectionSourceOptions {
  readonly connectionString: string;
  readonly applicationName: string;
  readonly maxConnections: number;
  readonly statementTimeoutMs: typeof BATCH_TIMEOUT_MS | typeof NO_TIMEOUT;
}

/** Connections that write projections: what they lose in a crash is folded again. */
export const openProjectionSource = (options: ProjectionSourceOptions, logger: Logger): Promise<DataSource> =>
  readModelSource({
    ...options,
    isDurable: false,
    onError: (error) => logger.warn('an idle database connection was lost', { error }),
  }).initialize();
