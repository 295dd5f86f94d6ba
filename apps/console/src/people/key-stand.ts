import type { Schemas } from '../kernel/client.ts';

export type KeyStand = 'works' | 'ends' | 'ended' | 'revoked';

/** @param nowMs by the service's clock */
export const standOfKey = (
  { expires_at: expiresAt, revoked_at: revokedAt }: Pick<Schemas['AdminKey'], 'expires_at' | 'revoked_at'>,
  nowMs: number,
): KeyStand => {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'works';
  return Date.parse(expiresAt) <= nowMs ? 'ended' : 'ends';
};

/** As it begins, up to its secret: enough to find it where it is used. */
export const beginOf = ({ livemode, prefix }: Pick<Schemas['AdminKey'], 'livemode' | 'prefix'>): string =>
  `svc_${livemode ? 'live' : 'test'}_${prefix}`;

export const isOver = (stand: KeyStand): boolean => stand === 'ended' || stand === 'revoked';
