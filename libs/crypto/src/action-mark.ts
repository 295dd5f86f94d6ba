import { createHmac, timingSafeEqual } from 'node:crypto';

import { isId } from './ids.js';
import { canonicalize } from './jcs.js';

/** The prefix of a mark's message in the change log of a database. */
export const MARK_PREFIX = 'service.action';

/** The domain tag of a mark's MAC, and of nothing else under that key. */
const MARK_TAG = 'service/action-mark/v1';

/** No mark is longer: what is, is not read. */
export const MARK_MAX_BYTES = 256;

const MARK_KEY_BYTES = 32;

const MAX_ATTEMPT = 999_999_999;
const MAX_LOGGED_XID = 0xffff_ffff;

/** The whole language of marks: a closed schema of three flat values is a regular one, and each has one spelling. */
const MARK = /^\{"action":"(act_[0-9a-z]{26})","attempt":([1-9][0-9]{0,8}),"mac":"([0-9a-f]{64})","v":1\}$/;

/** What a mark says: this transaction is that attempt of that action. */
export interface MarkedAttempt {
  readonly action: string;
  readonly attempt: number;
  /** The low 32 bits of the transaction's id, as its change log has them ({@link xidInLog}). */
  readonly xid: number;
}

/** A mark as it was read. It proves nothing before {@link isMarkOf}: whoever may write to the log may write this. */
export interface ActionMark {
  readonly action: string;
  readonly attempt: number;
  /** 64 lowercase hex characters. */
  readonly mac: string;
}

/**
 * The text of the mark that a transaction carries. The MAC binds it to the transaction's id, so a mark that was read in
 * the log fits no other transaction (for the 2^32 transactions until that number comes again).
 */
export const actionMark = (key: Uint8Array, marked: MarkedAttempt): string => {
  const { action, attempt } = marked;
  if (!isId('act', action)) throw new RangeError('a mark names an action');
  if (!Number.isInteger(attempt) || attempt < 1 || attempt > MAX_ATTEMPT) throw new RangeError('no such attempt');
  return canonicalize({ action, attempt, mac: macOf(key, marked).toString('hex'), v: 1 });
};

/** Reads a mark in its one spelling; null for anything else. */
export const readActionMark = (text: string): ActionMark | null => {
  if (text.length > MARK_MAX_BYTES) return null;
  const [, action, digits, mac] = MARK.exec(text) ?? [];
  if (action === undefined || digits === undefined || mac === undefined || !isId('act', action)) return null;
  const attempt = Number(digits);
  return canonicalize({ action, attempt, mac, v: 1 }) === text ? { action, attempt, mac } : null;
};

/** Whether the holder of this key made the mark for the transaction with this id, in constant time. */
export const isMarkOf = (key: Uint8Array, mark: ActionMark, xid: number): boolean => {
  const [own, said] = [macOf(key, { ...mark, xid }), Buffer.from(mark.mac, 'hex')];
  return own.byteLength === said.byteLength && timingSafeEqual(own, said);
};

/** The number by which a change log calls a transaction: its id (xid8, decimal digits) modulo 2^32. */
export const xidInLog = (xid: string): number => Number(BigInt.asUintN(32, BigInt(xid)));

const macOf = (key: Uint8Array, { action, attempt, xid }: MarkedAttempt): Buffer => {
  if (key.byteLength !== MARK_KEY_BYTES) throw new RangeError(`a mark's key has ${MARK_KEY_BYTES} bytes`);
  if (!Number.isInteger(xid) || xid < 0 || xid > MAX_LOGGED_XID) throw new RangeError('no such transaction');
  return createHmac('sha256', key).update(`${MARK_TAG}\n${action}\n${attempt}\n${xid}`).digest();
};
