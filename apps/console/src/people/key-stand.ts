import type { Schemas } from '../kernel/client.ts';

/** `ends`: it was rolled, and its overlap is not over. `works`: also a key that was made with an end to come. */
export type KeyStand = 'works' | 'ends' | 'ended' | 'revoked';

/** @param nowMs by the service's clock */
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

/** As it begins, up to its secret: enough to find it where it is used. */
export const beginOf = ({ livemode, prefix }: Pick<Schemas['AdminKey'], 'livemode' | 'prefix'>): string =>
  `svc_${livemode ? 'live' : 'test'}_${prefix}`;

export const isOver = (stand: KeyStand): boolean => stand === 'ended' || stand === 'revoked';
