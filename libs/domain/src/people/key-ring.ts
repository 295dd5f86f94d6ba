import { DomainError, type Actor, type KeyId, type Timestamp } from '../kernel/index.js';
import type { KeyRecord } from './organization.events.js';

/** Of an agent; the same bound for an organization's admin keys (rule KEY-8). */
export const ACTIVE_KEYS_MAX = 10;

export interface StoredKey extends KeyRecord {
  /** The key that this one goes back to by rolls; itself when it was created. */
  readonly lineage: KeyId;
  readonly createdAt: Timestamp;
  /** Given at its creation or set by a roll: works before, answers `api_key_expired` from then on. */
  readonly expiresAt: Timestamp | null;
  readonly revokedAt: Timestamp | null;
  /** The key that it was rolled to. */
  readonly successor: KeyId | null;
}

export interface AdminKey extends StoredKey {
  /** Who was shown its secret; null where the event was recorded before it told. */
  readonly createdBy: Actor | null;
}

/** The keys of one holder, an agent or an organization. Revoked and expired ones stay, so that they are named when used. */
export type KeyRing<Key extends StoredKey = StoredKey> = ReadonlyMap<KeyId, Key>;

export const isKeyActive = (key: StoredKey, now: Timestamp): boolean =>
  key.revokedAt === null && (key.expiresAt === null || now < key.expiresAt);

/**
 * Whether what was done with a key is still vouched for: by the key, or by one that it was rolled to. A key that was itself
 * revoked vouches for nothing, whatever it was rolled to: whoever held it is not trusted any more.
 */
export const isStillVouchedFor = (ring: KeyRing, id: KeyId, now: Timestamp): boolean => {
  const key = ring.get(id);
  if (!key || key.revokedAt !== null) return false;
  return [...ring.values()].some((other) => other.lineage === key.lineage && isKeyActive(other, now));
};

/** @throws {DomainError} conflict */
export const requireRoomForKey = (ring: KeyRing, now: Timestamp): void => {
  const active = [...ring.values()].filter((key) => isKeyActive(key, now)).length;
  if (active < ACTIVE_KEYS_MAX) return;
  throw new DomainError('conflict', {
    message:
      `At most ${ACTIVE_KEYS_MAX} keys may be active at once, and a rolled key is until its overlap ends. ` +
      'Revoke one first, or roll with an overlap of 0.',
  });
};

/**
 * A successor needs room too, as long as the rolled key goes on working.
 * @throws {DomainError} not_found, conflict
 */
export const requireRollable = (ring: KeyRing, id: KeyId, expiresAt: Timestamp, now: Timestamp): void => {
  const key = ring.get(id);
  if (!key) throw new DomainError('not_found');
  if (!isKeyActive(key, now) || key.successor !== null) {
    throw new DomainError('conflict', {
      message: 'This key was rolled or revoked already, or has ended. Create a new key instead.',
    });
  }
  requireRoomForKey(withChangedKey(ring, id, { expiresAt }), now);
};

/** Whether a revocation of it changes anything. @throws {DomainError} not_found */
export const isRevocable = (ring: KeyRing, id: KeyId): boolean => {
  const key = ring.get(id);
  if (!key) throw new DomainError('not_found');
  return key.revokedAt === null;
};

/** @param predecessor the key it was rolled from; undefined for one that was created */
export const newKey = (record: KeyRecord, at: Timestamp, predecessor?: StoredKey): StoredKey => ({
  ...record,
  lineage: predecessor?.lineage ?? record.key,
  createdAt: at,
  expiresAt: null,
  revokedAt: null,
  successor: null,
});

export const withKey = <Key extends StoredKey>(ring: KeyRing<Key>, key: Key): KeyRing<Key> =>
  new Map(ring).set(key.key, key);

export const withChangedKey = <Key extends StoredKey>(
  ring: KeyRing<Key>,
  id: KeyId,
  change: Partial<Pick<StoredKey, 'expiresAt' | 'revokedAt' | 'successor'>>,
): KeyRing<Key> => {
  const known = ring.get(id);
  return known ? withKey(ring, { ...known, ...change }) : ring;
};
