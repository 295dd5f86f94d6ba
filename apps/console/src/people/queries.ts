import { queryOptions } from '@tanstack/react-query';
import type { Schemas } from '../kernel/client.ts';
import { everyOf, pagesOf, query } from '../kernel/query.ts';
import { fingerprintOf } from './fingerprint.ts';

/** @param status null for the active members and those who are invited */
export const memberPages = (status: Schemas['Membership']['status'] | null) =>
  pagesOf('/v1/org/members', status === null ? {} : { query: { status } });

export const adminKeyPages = pagesOf('/v1/org/keys', {});

/** Every admin key: a working key may be older than many ended ones. */
export const everyAdminKey = everyOf(
  '/v1/org/keys',
  {},
  {
    tooMany:
      'There are more than 10,000 admin keys, which is too many to find those that this person made. All of them are revoked; to keep some, make this change with the API and name them in keep_keys.',
  },
);

export const passkeyPages = pagesOf('/v1/passkeys', {});

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
