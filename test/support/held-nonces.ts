import { IntentNonces, type NonceHolder, type NonceReservation } from '#libs/domain/gate';
import type { ActionId } from '#libs/domain/kernel';

/** Nonces of one process, for tests that need no database. */
export class HeldNonces extends IntentNonces {
  readonly rows = new Map<string, NonceReservation>();

  override reserve(wanted: NonceReservation): Promise<NonceHolder> {
    const holder = this.rows.get(keyOf(wanted)) ?? wanted;
    this.rows.set(keyOf(wanted), holder);
    return Promise.resolve(holder);
  }

  override takeOver(wanted: NonceReservation, from: ActionId): Promise<boolean> {
    const isHeld = this.rows.get(keyOf(wanted))?.action === from;
    if (isHeld) this.rows.set(keyOf(wanted), wanted);
    return Promise.resolve(isHeld);
  }

  override removeExpired(nowMs: number): Promise<number> {
    const expired = [...this.rows].filter(([, { expiresMs }]) => expiresMs < nowMs);
    for (const [key] of expired) this.rows.delete(key);
    return Promise.resolve(expired.length);
  }
}

const keyOf = ({ agent, nonce }: NonceReservation): string => `${agent} ${nonce}`;
