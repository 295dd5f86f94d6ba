import { DomainError } from '../kernel/index.js';
import type { SessionEnd } from './session.decider.js';

/**
 * Ends that came from elsewhere, each with what to do next. Of what a person did in this very browser there is nothing to tell.
 * `removed`: the membership is over, and the session with it.
 */
const TOLD = {
  address_set: 'You were signed out because your address was changed. Sign in with the new address at /login.',
  everywhere: 'You were signed out here because you signed out everywhere in another browser. Sign in again at /login.',
  ended: 'You were signed out here from another of your sessions. Sign in again at /login.',
  removed:
    'You were signed out because you are no longer a member of this organization. Ask one of its owners to invite you again.',
} as const satisfies Partial<Record<SessionEnd | 'removed', string>>;

type ToldEnd = keyof typeof TOLD;

export const isToldEnd = (why: SessionEnd): why is Extract<SessionEnd, ToldEnd> => Object.hasOwn(TOLD, why);

/** @param why null where nobody knows, or where the person does */
export const endedSession = (why: SessionEnd | 'removed' | null): DomainError =>
  new DomainError('session_expired', why !== null && why in TOLD ? { message: TOLD[why as ToldEnd] } : {});
