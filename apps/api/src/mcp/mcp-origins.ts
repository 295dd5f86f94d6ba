import { DomainError } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import type { Site } from '../http/site.js';

/**
 * Which pages a browser may send a call from (revision 2026-07-28, Streamable HTTP, Security): what has an Origin comes from a
 * page, and a page of somebody else's that was resolved to this address must not act with the key of whoever looks at it.
 */
export class McpOrigins {
  constructor(
    private readonly site: Site,
    private readonly allowed: readonly string[],
  ) {}

  /** @throws {DomainError} csrf_failed */
  require(exchange: Exchange): void {
    const sent = exchange.headerValues('Origin');
    if (sent.length === 0) return;
    const [origin = ''] = sent;
    if (sent.length === 1 && (this.site.isOwnOrigin(origin) || this.allowed.includes(origin))) return;
    throw new DomainError('csrf_failed', {
      message:
        'The request came from a page of an origin that may not call this service. An operator allows the origin with ' +
        'SERVICE_MCP_ORIGINS; a client that is no page sends no Origin.',
    });
  }
}
