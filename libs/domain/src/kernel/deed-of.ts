import { deriveDeedId } from '#libs/crypto';
import type { EventEnvelope } from './event-codec.js';
import type { DeedId } from './ids.js';

/**
 * The id of the deed that will seal this event, known before it is sealed (rule DEED-7): an admin's answer carries it
 * at once.
 */
export const deedOf = ({ metadata, recorded }: EventEnvelope): DeedId | null =>
  metadata.org === null ? null : (deriveDeedId(metadata.org, recorded.id) as DeedId);
