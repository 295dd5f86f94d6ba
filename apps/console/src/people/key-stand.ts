import type { Schemas } from '../kernel/client.ts';

/**
 * The state of a key. `ends`: the key was rolled and its overlap still runs. `works` includes keys with an expiry in
 * the future.
 */
export type KeyStand = 'works' | 'ends' | 'ended' | 'revoked';

/** @param nowMs the time by the service's clock */
export const standOfKey = (
  {
    expires_at: expiresAt,
    revoked_at: revokedAt,
    replaced_by: successor,
  }: Pick<Schemas['AdminKey'], 'expires_at' | 'revoked_at' | 'replaced_by'>,
  nowMs: number,
): KeyStand => {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'works';
  if (Date.parse(expiresAt) <= nowMs) return 'ended';
  return successor === null ? 'works' : 'ends';
};

/** The first characters of a key, up to its secret: enough to find where the key is used. */
export const beginOf = ({ livemode, prefix }: Pick<Schemas['AdminKey'], 'livemode' | 'prefix'>): string =>
  `svc_${livemode ? 'live' : 'test'}_${prefix}`;

export const isOver = (stand: KeyStand): boolean => stand === 'ended' || stand === 'revoked';
