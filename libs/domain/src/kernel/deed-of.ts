import { deriveDeedId } from '#libs/crypto';
import type { EventEnvelope } from './event-codec.js';
import type { DeedId } from './ids.js';

/**
 * The id of the deed that will seal this event, known before it is sealed (rule DEED-7), so that the answer to an
 * admin's command can name the deed at once. Null for an event of the whole deployment, which has no deed.
 */
export const deedOf = ({ metadata, recorded }: EventEnvelope): DeedId | null =>
  metadata.org === null ? null : (deriveDeedId(metadata.org, recorded.id) as DeedId);
