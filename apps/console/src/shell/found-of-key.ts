import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { agentsOfKey } from '../agents/queries.ts';
import type { IconName } from '../design/icon.tsx';
import { plain } from '../kernel/said.ts';
import { useMay } from '../kernel/session.tsx';
import { beginOf } from '../people/key-stand.ts';
import { everyAdminKey } from '../people/queries.ts';

export interface Found {
  readonly icon: IconName;
  readonly name: string;
  readonly kind: string;
  readonly path: string;
}

const KEPT_MS = 60_000;

/**
 * What the palette offers for a key: the settings page if it is an admin key, else the actions under it and its agent.
 * Asks nothing if `key` is null.
 */
export const useFoundOfKey = (key: string | null): readonly Found[] => {
  const isAdmin = useMay('admin');
  const { data: agents } = useQuery({ ...agentsOfKey(key ?? ''), enabled: key !== null });
  const { data: adminKeys } = useQuery({ ...everyAdminKey, staleTime: KEPT_MS, enabled: key !== null && isAdmin });
  return useMemo(() => {
    if (key === null) return [];
    const adminKey = adminKeys?.data.find(({ id, prefix }) => id === key || prefix === lastOf(key));
    if (adminKey !== undefined) {
      return [{ icon: 'key', name: `${beginOf(adminKey)}…`, kind: 'admin key', path: '/settings/admin-keys' }];
    }
    return [
      { icon: 'activity', name: `Calls of ${key}`, kind: 'API key', path: `/actions?key=${key}` },
      ...(agents?.data ?? [])
        .filter(({ name }) => !name.toLowerCase().includes(key))
        .map(({ id, name }) => ({
          icon: 'robot' as const,
          name: plain(name),
          kind: 'agent of this key',
          path: `/agents/${id}`,
        })),
    ];
  }, [key, agents, adminKeys]);
};

/** The last part of `svc_live_k3y9prf0`, by which logs name the key. */
const lastOf = (key: string): string => key.slice(key.lastIndexOf('_') + 1);
