import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, ApiError, bodyOf, type Schemas } from '../kernel/client.ts';
import type { Filters } from '../kernel/filtered-list.ts';
import { serverNow } from '../kernel/clock.ts';
import { keyOf } from '../kernel/keys.ts';
import { pagesOf, query } from '../kernel/query.ts';
import type { Check, GivenDeed } from './check-deed.ts';
import type { Shown } from './this-page.ts';

export const deedPages = (filters: Filters) =>
  pagesOf('/v1/deeds', { query: { ...filters, order: 'desc' } }, { isStill: true });

/** The newest admin deeds that were issued before an instant. Read again after a while: the newest are listed late. */
export const adminDeedsBefore = (instant: string) =>
  query(
    '/v1/deeds',
    { query: { kind: ['admin'], 'issued_at[lt]': instant, order: 'desc', limit: 100 } },
    { staleTime: 60_000 },
  );

export interface ReadDeed {
  /** The id that was asked for. */
  readonly id: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Null if the list does not have the deed yet. */
  readonly envelope: Schemas['Deed'] | null;
  readonly before: Schemas['Deed'] | null;
  readonly after: Schemas['Deed'] | null;
}

const readDeed = async (id: string): Promise<ReadDeed> => {
  const asked = api.GET('/v1/deeds/{id}', { params: { path: { id } }, parseAs: 'arrayBuffer' });
  const bytes = await bodyOf<ArrayBuffer>(asked);
  // The sequence number comes from a header of its own, because a proxy may weaken an ETag.
  const seq = Number((await asked).response.headers.get('Service-Deed-Seq'));
  const query = { 'seq[gte]': Math.max(0, seq - 1), 'seq[lt]': seq + 2 };
  const { data: around } = await bodyOf(api.GET('/v1/deeds', { params: { query } }));
  const at = (place: number): Schemas['Deed'] | null => around.find((deed) => deed.seq === place) ?? null;
  return { id, bytes: new Uint8Array(bytes), envelope: at(seq), before: at(seq - 1), after: at(seq + 1) };
};

/** How soon to read a deed again that the list does not have: the list may be behind the sealing. */
const LISTED_AGAIN_MS = 5_000;
/** How soon to ask again for a deed that is not found: an action may name its deed a moment before it is sealed. */
const SEALED_AGAIN_MS = 1_000;
const MOST_ASKED = 10;

const isNotSealedYet = (error: Error | null): boolean => error instanceof ApiError && error.code === 'not_found';

/** A deed's bytes, and from the list of deeds its envelope and those of its neighbours. */
export const useDeed = (id: string) =>
  useQuery({
    queryKey: keyOf('/v1/deeds/{id}', { path: { id } }),
    queryFn: () => readDeed(id),
    staleTime: 60_000,
    refetchInterval: ({ state: { data, error, errorUpdateCount } }) => {
      if (isNotSealedYet(error)) return errorUpdateCount < MOST_ASKED ? SEALED_AGAIN_MS : false;
      return data?.envelope === null ? LISTED_AGAIN_MS : false;
    },
  });

/**
 * Reads the key set. `no-cache` asks the service whether the browser's copy is still current, because a key may have
 * been revoked since.
 */
const readKeys = async (): Promise<readonly Schemas['SealKey'][]> =>
  (await bodyOf(api.GET('/.well-known/service/keys.json', { cache: 'no-cache' }))).keys;

/** What the digests of a deed stand for. */
export const deedEvidence = (id: string) => query('/v1/deeds/{id}/evidence', { path: { id } }, { staleTime: 60_000 });

/** The salts under which a deed commits to its values, by the member that stands for the value. */
const readSalts = async (id: string): Promise<Readonly<Record<string, string | null>>> => {
  const { data } = await bodyOf(api.GET('/v1/deeds/{id}/evidence', { params: { path: { id } } }));
  return Object.fromEntries(data.map(({ member, salt }) => [member, salt]));
};

const CHECKPOINTS = '/v1/ledger/checkpoints';

/** As an object: the route's first answer is the signed note. */
const readCheckpoint = (covering?: number): Promise<Schemas['WitnessedCheckpoint']> =>
  bodyOf(
    api.GET(CHECKPOINTS, {
      params: { query: covering === undefined ? {} : { covering } },
      headers: { Accept: 'application/json' },
    }),
  ) as Promise<Schemas['WitnessedCheckpoint']>;

/** The same, or null where there is none yet. */
const readCheckpointIfAny = (covering?: number): Promise<Schemas['WitnessedCheckpoint'] | null> =>
  readCheckpoint(covering).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_found') return null;
    throw error;
  });

/** How soon to ask again for a checkpoint that is not there, or that too few have cosigned: one is made each minute. */
const SIGNED_AGAIN_MS = 15_000;

/** The checkpoint that speaks for the deed at a place, null while none covers it; looked at again until it is witnessed. */
export const useCoveringCheckpoint = (seq: number) =>
  useQuery({
    queryKey: keyOf(CHECKPOINTS, { query: { covering: seq } }),
    queryFn: () => readCheckpointIfAny(seq),
    staleTime: 60_000,
    refetchInterval: ({ state: { data } }) => (data === null || data?.quorum === 'not_met' ? SIGNED_AGAIN_MS : false),
  });

/** The newest checkpoint, null before the first one. */
export const newestCheckpoint = queryOptions({
  queryKey: keyOf(CHECKPOINTS, {}),
  queryFn: () => readCheckpointIfAny(),
  staleTime: 60_000,
});

const WITNESSES = '/v1/ledger/witnesses';
const WITNESSES_AGAIN_MS = 15_000;

/** Who cosigns, and how each stands. No event tells of that, so it is looked at again. */
export const witnessPolicy = queryOptions({
  queryKey: keyOf(WITNESSES, {}),
  queryFn: () =>
    bodyOf(api.GET(WITNESSES, { headers: { Accept: 'application/json' } })) as Promise<Schemas['WitnessPolicy']>,
  staleTime: WITNESSES_AGAIN_MS,
  refetchInterval: WITNESSES_AGAIN_MS,
});

/** The same as the file that `verify --witnesses` takes. */
export const witnessPolicyFile = queryOptions({
  queryKey: keyOf(WITNESSES, {}, 'file'),
  queryFn: () => readPolicyFile(),
});

const readPolicyFile = (): Promise<string> =>
  bodyOf<string>(api.GET(WITNESSES, { headers: { Accept: 'text/plain' }, parseAs: 'text' }));

/** The checks of a deed's place in a checkpoint, which this browser makes; looked at again while something is open. */
export const proofQuery = ({ deed, readAtMs, org }: Pick<Question, 'deed' | 'readAtMs' | 'org'>) =>
  queryOptions({
    queryKey: ['deed-proof', deed?.id, readAtMs, org],
    gcTime: 0,
    staleTime: SIGNED_AGAIN_MS,
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ holds }) => holds !== true) === true ? SIGNED_AGAIN_MS : false,
    queryFn: async (): Promise<readonly Check[]> => {
      if (deed === null) throw new Error('asked without a deed');
      try {
        return await proofChecks(deed, org);
      } catch (error) {
        return [{ name: 'In a checkpoint', ...withoutProof(error) }];
      }
    },
  });

const proofChecks = async (deed: GivenDeed, org: string): Promise<readonly Check[]> => {
  const asked = api.GET('/v1/deeds/{id}/proof', { params: { path: { id: deed.id } }, parseAs: 'text' });
  const [proof, keys, policy, { checkProof }] = await Promise.all([
    bodyOf<string>(asked),
    readCheckpointKeys(),
    readPolicyFile(),
    import('./verifier.ts'),
  ]);
  const { bytes, envelope } = deed;
  return checkProof({ org, seq: envelope.seq, bytes, proof, policy, keys: keys.map((key) => key.public_key) });
};

/** The other checks stand, whatever became of this one. */
const withoutProof = (error: unknown): Pick<Check, 'holds' | 'says'> => {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === 'not_found')
    return { holds: null, says: 'No checkpoint covers this deed yet. One is made each minute' };
  return { holds: error.code === 'ledger_inconsistent' ? false : null, says: error.message };
};

const readCheckpointKeys = async (): Promise<readonly Schemas['CheckpointKey'][]> =>
  (await bodyOf(api.GET('/.well-known/service/checkpoint-keys.json', { cache: 'no-cache' }))).keys;

/** The verifier keys that sign the tree of this origin now: two while keys are rotated. */
export const ownVkeys = (origin: string) =>
  queryOptions({
    queryKey: keyOf('/.well-known/service/checkpoint-keys.json', {}, origin),
    queryFn: async () => {
      const [keys, { vkeyText }] = await Promise.all([readCheckpointKeys(), import('./verifier.ts')]);
      const now = new Date(serverNow()).toISOString();
      const signing = keys.filter(({ retired_at: at }) => at === null || now < at);
      return signing.map(({ public_key: key }) => vkeyText(origin, key));
    },
    staleTime: 60_000,
  });

/** The inputs of a check. */
interface Question {
  readonly deed: GivenDeed | null;
  readonly amendment: GivenDeed | null;
  /** When the two were read: a deed that is read again is checked again. */
  readonly readAtMs: readonly (number | undefined)[];
  readonly shown: Shown | null;
  readonly org: string;
}

/** The checks of a deed, which this browser makes. */
export const checksQuery = ({ deed, amendment, readAtMs, shown, org }: Question) =>
  queryOptions({
    queryKey: ['deed-check', deed?.id, amendment?.id, readAtMs, org, shown],
    gcTime: 0,
    // A failed check is repeated on the next occasion, because its cause may have been temporary. A check that holds
    // stays, until the deed is read again.
    staleTime: ({ state }) => (state.data?.checks.some(({ holds }) => holds === false) === true ? 0 : Infinity),
    queryFn: async () => {
      if (deed === null) throw new Error('asked without a deed');
      const [{ checkDeed }, keys] = await Promise.all([import('./check-deed.ts'), readKeys()]);
      const startedAt = performance.now();
      const page = shown === null ? {} : { page: shown };
      // Only a comparison with a page needs the salts.
      const salted = async (given: GivenDeed): Promise<GivenDeed> =>
        shown === null ? given : { ...given, salts: await readSalts(given.id) };
      const later = amendment === null ? {} : { amendment: await salted(amendment) };
      const checks = await checkDeed({ ...(await salted(deed)), keys, org, ...page, ...later });
      return { checks, tookMs: performance.now() - startedAt };
    },
  });
