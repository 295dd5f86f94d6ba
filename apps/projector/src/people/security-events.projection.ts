import type { EventEnvelope, EventTypes } from '#libs/domain/kernel';
import type { SessionEvent } from '#libs/domain/people';
import { SecurityEventRow } from '#libs/infra/read-models';
import type { Projection } from '../projection.js';

const SESSION_EVENTS: EventTypes<SessionEvent> = { SessionStarted: true, SessionEnded: true };

/** Rows of GET /v1/security-events: one for each event of a session. Nothing ever changes one. */
export const securityEventsProjection: Projection = {
  name: 'security_events',
  version: 1,
  follows: { session: SESSION_EVENTS },
  rowTypes: [SecurityEventRow],

  async project(events, rows) {
    await rows.upsert(SecurityEventRow, events.map(rowOf));
  },
};

const rowOf = ({ event, recorded }: EventEnvelope): SecurityEventRow => {
  const { type, data } = event as SessionEvent;
  const isSignIn = type === 'SessionStarted';
  return {
    id: recorded.id,
    org: data.org,
    type: isSignIn ? 'user.signed_in' : 'user.signed_out',
    user: data.user,
    session: data.session,
    via: isSignIn ? data.via : null,
    why: isSignIn ? null : data.why,
    createdAt: data.at,
  };
};
