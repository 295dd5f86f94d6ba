import type { Digest, Salt } from '#libs/crypto';
import { PayloadStore, requireUndamaged, type Payload, type PayloadKind } from '#libs/domain/kernel';

type Named = Pick<Payload, 'owner' | 'kind' | 'digest'>;

/** Payloads of one process, for tests that need no database. */
export class HeldPayloads extends PayloadStore {
  readonly rows = new Map<string, string>();
  private readonly salts = new Map<string, Set<Salt>>();

  override put(payload: Payload): Promise<void> {
    const key = keyOf(payload);
    if (!this.rows.has(key)) this.rows.set(key, payload.body);
    const salts = this.salts.get(key) ?? new Set();
    if (payload.salt !== undefined) this.salts.set(key, salts.add(payload.salt));
    return Promise.resolve();
  }

  override async get(owner: string, kind: PayloadKind, digest: Digest): Promise<string | null> {
    const body = this.rows.get(keyOf({ owner, kind, digest })) ?? null;
    if (body !== null) requireUndamaged({ owner, kind, digest, body });
    return Promise.resolve(body);
  }

  override async salted(owner: string, kind: PayloadKind, digest: Digest) {
    const body = await this.get(owner, kind, digest);
    return body === null ? null : { body, salts: [...(this.salts.get(keyOf({ owner, kind, digest })) ?? [])] };
  }

  /** Changes a stored body behind the service's back. */
  damage(payload: Named, body: string): void {
    this.rows.set(keyOf(payload), body);
  }
}

const keyOf = ({ owner, kind, digest }: Named): string => `${owner} ${kind} ${digest}`;
