import type { DomainError, Logger } from '#libs/domain/kernel';
import { ShuttingDown } from './drain.js';
import type { Exchange } from './exchange.js';

/** Lines about what failed: ids and codes, never arguments, results, bodies or queries (rule OPS-2). */
export class FailureLog {
  constructor(private readonly logger: Logger) {}

  write(error: DomainError, exchange: Exchange): void {
    const attributes = {
      request_id: exchange.requestId,
      route: exchange.route?.template ?? 'unmatched',
      code: error.code,
      ...(error.cause === undefined ? {} : { cause: error.cause }),
    };
    if (error.code === 'internal_error') this.logger.error('internal error', attributes);
    else if (error.code === 'timeout') this.logger.warn('request timed out', attributes);
    else if (error instanceof ShuttingDown) this.logger.info('request refused, shutting down', attributes);
    else if (error.status >= 500) this.logger.error('request failed', attributes);
    else this.logger.debug('request failed', attributes);
  }
}
