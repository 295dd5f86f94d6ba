import { DomainError } from '#libs/domain/kernel';
import type { PersonPrincipal } from './authenticator.port.js';
import type { Exchange } from './exchange.js';

const SERVICE_ORG_HEADER = 'Service-Org';

/**
 * A window of the Console says which organization it shows: another window of the browser may have switched the session, and
 * a change must not land in an organization that nobody looked at.
 * @throws {DomainError} conflict with `param: Service-Org`; validation_failed when it was sent more than once
 */
export const requireOwnOrganization = (exchange: Exchange, { org }: PersonPrincipal): void => {
  const sent = exchange.headerValues(SERVICE_ORG_HEADER);
  if (sent.length === 0 || (sent.length === 1 && sent[0] === org)) return;
  if (sent.length > 1) {
    throw new DomainError('validation_failed', {
      param: SERVICE_ORG_HEADER,
      message: 'Service-Org must be sent at most once. Send it once or leave it out.',
    });
  }
  throw new DomainError('conflict', {
    param: SERVICE_ORG_HEADER,
    message:
      'The session is now in another organization than this window. Reload the page, and switch back if you need to.',
  });
};
