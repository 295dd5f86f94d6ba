import { encodeHex, type Salt } from '#libs/crypto';
import type { Clock, Randomness } from './clock.port.js';
import { timestampOf, type Timestamp } from './timestamp.js';

/**
 * Who caused a command and its events, in the form that deeds use (rule DEED-12): ids only, never names or addresses.
 */
export interface Actor {
  readonly type: 'agent' | 'user' | 'admin_key' | 'operator' | 'system';
  /** Null for an operator at the command line and for the service itself. */
  readonly id: string | null;
}

export const SYSTEM: Actor = { type: 'system', id: null };
export const OPERATOR: Actor = { type: 'operator', id: null };

/** The metadata of a new command from the command line. Its actor is the operator, with no person and no key. */
export const operatorMetadata = (
  sources: { readonly clock: Clock; readonly randomness: Randomness },
  org: string | null,
): CommandMetadata => ({
  org,
  actor: OPERATOR,
  requestId: null,
  commandId: encodeHex(sources.randomness.bytes(16)),
  now: timestampOf(sources.clock.nowMs()),
});

/** Goes with every command. It includes the time, so that deciding again after a conflict gives the same events. */
export interface CommandMetadata {
  /** Null for a command about the whole deployment. */
  readonly org: string | null;
  readonly actor: Actor;
  readonly requestId: string | null;
  /** Identifies the command, so that a retry is recognised: its events carry this id as their causation. */
  readonly commandId: string;
  /** The id of the object that a chain of commands is about; defaults to the command id. */
  readonly correlation?: string;
  readonly now: Timestamp;
  /** Of events whose handler commits to a part of them itself. Else an append that needs a salt takes a new one. */
  readonly salt?: Salt;
  /** Of an append that an older version would misread. Default: the first, which every version knows. */
  readonly schema?: number;
}
