import { DomainError } from '../kernel/index.js';
import type { IntentKey, LivingAgent } from './agent.state.js';

/** The one in use, and the one that is to replace it (rule INTENT-5). */
export const INTENT_KEYS_MAX = 2;

/** @throws {DomainError} conflict */
export const requireRoomForIntentKey = (keys: readonly IntentKey[], kid: string): void => {
  if (keys.some((key) => key.kid === kid)) {
    throw new DomainError('conflict', {
      param: 'public_key',
      message: `This agent has the key of the field public_key already, as ${kid}. Use it, or register another one.`,
    });
  }
  if (keys.length < INTENT_KEYS_MAX) return;
  throw new DomainError('conflict', {
    message: `An agent has at most ${INTENT_KEYS_MAX} intent keys. Remove the one that its runtime no longer signs with first.`,
  });
};

/** @throws {DomainError} not_found, conflict */
export const requireRemovableIntentKey = ({ intentKeys, intentMode }: LivingAgent, kid: string): void => {
  if (!intentKeys.some((key) => key.kid === kid)) throw new DomainError('not_found');
  if (intentMode !== 'required' || intentKeys.length > 1) return;
  throw new DomainError('conflict', {
    message:
      'This is the last intent key of an agent that must sign: without it every call would be refused. ' +
      'Register another one first, or change intent_mode.',
  });
};
