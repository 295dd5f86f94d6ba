import { DomainError, type ErrorCode } from '#libs/domain/kernel';

import type { EgressDoor } from '../egress-door.js';
import { EgressFailure, type EgressFailureReason } from '../egress-failure.js';
import { requestTo } from './request-to.js';

/** What both ends of a door say of a destination. */
export interface Passage {
  readonly check: ErrorCode | 'passed';
  readonly request: EgressFailureReason | 'answered';
  readonly hasSent: boolean;
}

export const REFUSED: Passage = { check: 'destination_blocked', request: 'blocked', hasSent: false };

export const passageThrough = async (door: EgressDoor, origin: string): Promise<Passage> => {
  const check = await door.check(origin).then(() => 'passed' as const, codeOf);
  const request = await door.request(requestTo(443, { origin })).then(() => ANSWERED, failureOf);
  return { check, ...request };
};

const ANSWERED = { request: 'answered', hasSent: true } as const;

const codeOf = (error: unknown): ErrorCode => {
  if (error instanceof DomainError) return error.code;
  throw error;
};

const failureOf = (error: unknown): Pick<Passage, 'request' | 'hasSent'> => {
  if (error instanceof EgressFailure) return { request: error.reason, hasSent: error.hasSent };
  throw error;
};
