import { DomainError, type CommandMetadata, type Decider, type Timestamp } from '../kernel/index.js';
import type { SealKeyEvent } from './seal-key.events.js';

/** A retirement takes effect at least this long after its commit; by then every sealer knows of it (rule DEED-9). */
export const SEAL_KEY_OVERLAP_MIN_MS = 60_000;
const SEAL_KEY_OVERLAP_MAX_DAYS = 365;
export const SEAL_KEY_OVERLAP_MAX_MS = SEAL_KEY_OVERLAP_MAX_DAYS * 24 * 60 * 60 * 1_000;

/** The one stream of seal keys of the deployment. */
export const SEAL_KEYS_STREAM = 'sealkeys';

export interface SealKey {
  readonly kid: string;
  readonly publicKey: string;
  readonly registeredAt: Timestamp;
  /** When a running sealer, by its own clock, signed a proof with the key. Before that the key cannot be activated. */
  readonly provenAt: Timestamp | null;
  readonly activatedAt: Timestamp | null;
  readonly retiredAt: Timestamp | null;
  readonly revokedAt: Timestamp | null;
}

/** Oldest first, as `keys.json` lists them. */
export type SealKeys = readonly SealKey[];

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

export type SealKeyCommand =
  | Command<'RegisterSealKey', { kid: string; publicKey: string }>
  | Command<'ProveSealKey', { kid: string; signature: string }>
  /**
   * The new key seals at once; every other active key retires after the overlap.
   * `sealedUntil`: the latest `issued_at` of any ledger, read after the proof; null when no deed was sealed yet.
   */
  | Command<'ActivateSealKey', { kid: string; overlapMs: number; sealedUntil: Timestamp | null }>
  | Command<'RevokeSealKey', { kid: string; reason: string | null }>;

const decide = (command: SealKeyCommand, keys: SealKeys): readonly SealKeyEvent[] => {
  const at = command.metadata.now;
  const { kid } = command.data;
  const known = keys.find((key) => key.kid === kid);
  if (command.type === 'RegisterSealKey') {
    if (known) throw new DomainError('conflict', { message: 'This seal key is registered already.' });
    return [{ type: 'SealKeyRegistered', data: { kid, public_key: command.data.publicKey, at } }];
  }
  if (!known) throw new DomainError('not_found');
  switch (command.type) {
    case 'ProveSealKey':
      return known.provenAt ? [] : [{ type: 'SealKeyProven', data: { kid, signature: command.data.signature, at } }];
    case 'ActivateSealKey':
      return activate(known, keys, command);
    case 'RevokeSealKey':
      if (known.revokedAt) return [];
      return [{ type: 'SealKeyRevoked', data: { kid, revoked_at: at, reason: command.data.reason, at } }];
  }
};

const activate = (
  key: SealKey,
  keys: SealKeys,
  { data: { overlapMs, sealedUntil }, metadata }: Extract<SealKeyCommand, { type: 'ActivateSealKey' }>,
): readonly SealKeyEvent[] => {
  if (key.activatedAt) return [];
  if (key.revokedAt) throw new DomainError('conflict', { message: 'This seal key was revoked. Register a new one.' });
  if (!key.provenAt) {
    throw new DomainError('conflict', {
      message: 'No sealer has signed with this key yet. Wait for its proof, then activate it.',
    });
  }
  const at = metadata.now;
  const known = [at, key.provenAt, ...(sealedUntil === null ? [] : [sealedUntil])];
  const overlap = checkedSealKeyOverlap(overlapMs);
  return [
    { type: 'SealKeyActivated', data: { kid: key.kid, activated_at: at, at } },
    ...keys.flatMap(({ kid, activatedAt, retiredAt, revokedAt }): SealKeyEvent[] => {
      if (!activatedAt || retiredAt || revokedAt) return [];
      return [{ type: 'SealKeyRetired', data: { kid, retired_at: latestPlus(overlap, [...known, activatedAt]), at } }];
    }),
  ];
};

/**
 * The end of the overlap. It begins at the latest time that a deed under the old key can have: by the clock of this
 * process, by the sealer's clock when it proved the key, or by a clock that was set back since. A deed stays valid only
 * if its key's window includes its time, and a sealer that does not know of the new key yet still uses the old one for
 * a moment.
 */
const latestPlus = (overlapMs: number, instants: readonly Timestamp[]): Timestamp =>
  new Date(Math.max(...instants.map((instant) => Date.parse(instant))) + overlapMs).toISOString();

/**
 * The overlap, unchanged. A value out of range is refused and not rounded, because the caller would count on a time
 * that is not kept.
 * @throws {DomainError} `validation_failed` when it is out of range
 */
export const checkedSealKeyOverlap = (overlapMs: number): number => {
  if (overlapMs >= SEAL_KEY_OVERLAP_MIN_MS && overlapMs <= SEAL_KEY_OVERLAP_MAX_MS) return overlapMs;
  throw new DomainError('validation_failed', {
    param: 'overlap',
    message: `The overlap of a seal key must be one minute to ${SEAL_KEY_OVERLAP_MAX_DAYS} days: every sealer must know the new key before the old one retires.`,
  });
};

const evolve = (keys: SealKeys, event: SealKeyEvent): SealKeys => {
  switch (event.type) {
    case 'SealKeyRegistered': {
      const { kid, public_key: publicKey, at } = event.data;
      const fresh = { provenAt: null, activatedAt: null, retiredAt: null, revokedAt: null };
      return [...keys, { kid, publicKey, registeredAt: at, ...fresh }];
    }
    case 'SealKeyProven':
      return changed(keys, event.data.kid, { provenAt: event.data.at });
    case 'SealKeyActivated':
      return changed(keys, event.data.kid, { activatedAt: event.data.activated_at });
    case 'SealKeyRetired':
      return changed(keys, event.data.kid, { retiredAt: event.data.retired_at });
    case 'SealKeyRevoked':
      return changed(keys, event.data.kid, { revokedAt: event.data.revoked_at });
  }
};

const changed = (keys: SealKeys, kid: string, change: Partial<SealKey>): SealKeys =>
  keys.map((key) => (key.kid === kid ? { ...key, ...change } : key));

/** The key that a deed is sealed with, and the date that it gets. */
export interface NextSeal {
  readonly key: SealKey;
  readonly issuedAt: Timestamp;
}

/**
 * The seal of a deed that may be dated `notBefore` or later: by the newest key that is valid then (rule DEED-3). If no
 * key is valid yet, the clock was set back, because an activation takes effect at once. The deed is then dated at the
 * activation, so that its time is within its key's window (rule DEED-4). Null if every key is retired or revoked:
 * outcomes then wait unsealed, and nothing is lost.
 */
export const nextSeal = (keys: SealKeys, notBefore: Timestamp): NextSeal | null => {
  const activations = keys.flatMap(({ activatedAt }) => activatedAt ?? []).filter((at) => at > notBefore);
  for (const issuedAt of [notBefore, ...activations.sort()]) {
    const key = sealKeyAt(keys, issuedAt);
    if (key) return { key, issuedAt };
  }
  return null;
};

/** The newest key whose validity window includes the time. */
const sealKeyAt = (keys: SealKeys, issuedAt: Timestamp): SealKey | null =>
  keys.findLast(
    (key) =>
      key.activatedAt !== null &&
      key.revokedAt === null &&
      key.activatedAt <= issuedAt &&
      (key.retiredAt === null || issuedAt < key.retiredAt),
  ) ?? null;

export const sealKeyDecider: Decider<SealKeys, SealKeyCommand, SealKeyEvent> = {
  category: SEAL_KEYS_STREAM,
  eventTypes: {
    SealKeyRegistered: true,
    SealKeyProven: true,
    SealKeyActivated: true,
    SealKeyRetired: true,
    SealKeyRevoked: true,
  },
  initialState: () => [],
  decide,
  evolve,
};
