import { describe, it } from 'vitest';
import { givenFor, NOW } from '../../../../test/support/given.js';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import type { MembershipId, SessionId, UserId } from '../kernel/index.js';
import { sessionDecider, type SessionEvent } from './session.decider.js';

const given = givenFor(sessionDecider);
const of = {
  org: ORG,
  session: 'ses_00000000000000000000000001' as SessionId,
  user: 'usr_00000000000000000000000001' as UserId,
};
const membership = 'mem_00000000000000000000000001' as MembershipId;
const start = { type: 'StartSession', data: { ...of, membership, via: 'link' } } as const;
const end = { type: 'EndSession', data: { ...of, why: 'everywhere' } } as const;
const started: SessionEvent = { type: 'SessionStarted', data: { ...of, membership, via: 'link', at: NOW } };
const ended: SessionEvent = { type: 'SessionEnded', data: { ...of, why: 'everywhere', at: NOW } };

describe('a session', () => {
  it('starts once and ends once', () => {
    given().when(start).then(started);
    given(started).when(end).then(ended);
    given(started).when(start).thenRefuses('session_expired');
    given(started, ended).when(end).thenNothing();
  });

  it('that was ended before it started never starts: the sign-in under way loses', () => {
    given().when(end).then(ended);
    given(ended).when(start).thenRefuses('session_expired');
  });
});
