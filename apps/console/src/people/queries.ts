import { queryOptions } from '@tanstack/react-query';
import type { Schemas } from '../kernel/client.ts';
import { everyOf, pagesOf, query } from '../kernel/query.ts';
import { fingerprintOf } from './fingerprint.ts';

/** @param status null for the active members and those who are invited */
export const memberPages = (status: Schemas['Membership']['status'] | null) =>
  pagesOf('/v1/org/members', status === null ? {} : { query: { status } });

export const adminKeyPages = pagesOf('/v1/org/keys', {});

/** Every admin key: a working key may be older than many ended ones. */
export const everyAdminKey = everyOf('/v1/org/keys', {});

export const sessionPages = pagesOf('/v1/sessions', {});

/** @param types null for all */
export const securityEventPages = (types: readonly Schemas['SecurityEvent']['type'][] | null) =>
  pagesOf('/v1/security-events', types === null ? {} : { query: { type: [...types] } });

export const sealKeys = query('/.well-known/service/keys.json', {}, { cache: 'no-cache' });

export const fingerprintQuery = (publicKey: string) =>
  queryOptions({
    queryKey: ['fingerprint', publicKey],
    queryFn: () => fingerprintOf(publicKey),
    staleTime: Infinity,
  });
