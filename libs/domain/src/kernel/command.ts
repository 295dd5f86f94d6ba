import { encodeHex } from '#libs/crypto';
import type { Clock, Randomness } from './clock.port.js';
import { timestampOf, type Timestamp } from './timestamp.js';

/** Who did it, as deeds name them (rule DEED-12): ids only, never names or addresses. */
export interface Actor {
  readonly type: 'agent' | 'user' | 'admin_key' | 'operator' | 'system';
  /** Null for an operator at the command line and for the service itself. */
  readonly id: string | null;
}

export const SYSTEM: Actor = { type: 'system', id: null };
export const OPERATOR: Actor = { type: 'operator', id: null };

/** A new command by whoever holds the machine: no person, no key. */
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

/** Travels with every command, so that deciding again gives the same events. */
export interface CommandMetadata {
  /** Null for what belongs to the whole deployment. */
  readonly org: string | null;
  readonly actor: Actor;
  readonly requestId: string | null;
  /** Recognises a retry: events carry it as causation. */
  readonly commandId: string;
  /** What the chain of commands is about; defaults to the command id. */
  readonly correlation?: string;
  readonly now: Timestamp;
}
