import { setTimeout as sleep } from 'node:timers/promises';
import { timestampOf, type CommandMetadata } from '#libs/domain/kernel';
import {
  checkedSealKeyOverlap,
  LedgerReader,
  organizationsUpTo,
  SEAL_KEY_OVERLAP_MIN_MS,
  type SealKey,
  type SealKeys,
} from '#libs/domain/ledger';
import type { Deployment } from './deployment.js';

/** How long a live sealer is given to sign its test with a new key. */
const PROOF_TIMEOUT_MS = 30_000;
const PROOF_INTERVAL_MS = 100;

/** No sealer could sign with the new key. It is registered and not active: the old one goes on sealing. */
export class SealKeyNotProven extends Error {
  override readonly name = 'SealKeyNotProven';
  constructor(kid: string) {
    super(
      `No sealer signed with the new key ${kid} in time, so it was not activated. Check the worker's log and rotate again.`,
    );
  }
}

/** What a rotation leaves: the key that seals now, and those that go on until their `retiredAt`. */
export interface Rotation {
  readonly key: SealKey;
  readonly retiring: SealKeys;
}

/**
 * A new seal key from its making to its first second (rule DEED-11): stored, registered, proven by a live sealer, or by
 * this process where nobody holds the sealer's lease, and only then activated.
 * @throws {DomainError} validation_failed: an overlap outside of its limits, before anything is made
 * @throws {SealKeyNotProven}
 */
export const rotateSealKey = async (
  deployment: Deployment,
  overlapMs: number,
  metadata: () => CommandMetadata,
): Promise<Rotation> => {
  checkedSealKeyOverlap(overlapMs);
  const keys = deployment.sealKeys();
  const { store } = deployment.database;
  // Before the proof, for it may read long: what follows the proof has less than the shortest overlap.
  const orgs = await organizationsUpTo(store, await store.head());
  const { kid } = await keys.register(metadata());
  const lease = await deployment.leases.tryTake('sealer');
  if (lease) {
    try {
      await keys.prove(kid, metadata());
    } finally {
      await lease.release();
    }
  } else {
    await provenElsewhere(deployment, kid);
  }
  const sealedUntil = await new LedgerReader(store).latestIssuedAt(orgs);
  const key = await keys.activate(kid, { overlapMs, sealedUntil }, metadata());
  const now = timestampOf(deployment.clock.nowMs());
  const retiring = (await keys.list()).filter(
    ({ retiredAt, revokedAt }) => retiredAt !== null && now < retiredAt && revokedAt === null,
  );
  return { key, retiring };
};

const provenElsewhere = async (deployment: Deployment, kid: string): Promise<void> => {
  const keys = deployment.sealKeys();
  const deadline = deployment.clock.monotonicMs() + PROOF_TIMEOUT_MS;
  while (deployment.clock.monotonicMs() < deadline) {
    const known = (await keys.list()).find((key) => key.kid === kid);
    if (known?.provenAt) return;
    await sleep(PROOF_INTERVAL_MS);
  }
  throw new SealKeyNotProven(kid);
};

/**
 * The key that seals now, made where there is none: at the first start, or when the operator revoked the last one. A clock
 * that was set back to before its activation is no reason for another: deeds are then dated at the activation (`nextSeal`).
 */
export const ensureSealKey = async (
  deployment: Deployment,
  metadata: () => CommandMetadata,
): Promise<{ key: SealKey; isNew: boolean }> => {
  const now = timestampOf(deployment.clock.nowMs());
  const active = await deployment.sealKeys().active(now);
  if (active) {
    const activatedAt = active.activatedAt ?? now;
    if (activatedAt > now) {
      const message = 'the clock is behind the activation of the seal key, so new deeds are dated then: set the clock';
      deployment.logger.warn(message, { clock: now, activated_at: activatedAt, kid: active.kid });
    }
    return { key: active, isNew: false };
  }
  // No other key is there to retire.
  const { key } = await rotateSealKey(deployment, SEAL_KEY_OVERLAP_MIN_MS, metadata);
  return { key, isNew: true };
};
