import type { DeedBody } from '#libs/crypto';
import type { StoredDeed } from '#libs/domain/ledger';
import type { Principal } from '../http/authenticator.port.js';
import type { DeedPlace } from './stored-deeds.js';

/**
 * An agent sees the deeds of its own actions only (docs/api-conventions.md); the deed of another agent is answered like
 * one that does not exist.
 */
export const isVisible = ({ kind, body }: StoredDeed, caller: Principal): boolean =>
  caller.kind !== 'agent' || (kind !== 'admin' && (JSON.parse(body) as DeedBody).who.agent === caller.agent);

/** As {@link isVisible}, by the row of a deed whose bytes may be altered. */
export const isPlaceVisible = ({ agent }: DeedPlace, caller: Principal): boolean =>
  caller.kind !== 'agent' || agent === caller.agent;
