import { useQuery } from '@tanstack/react-query';
import { api, ApiError, bodyOf, type Schemas } from '../kernel/client.ts';

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
    queryKey: ['deed', id],
    queryFn: () => readDeed(id),
    staleTime: 60_000,
    refetchInterval: ({ state: { data, error, errorUpdateCount } }) => {
      if (isNotSealedYet(error)) return errorUpdateCount < MOST_ASKED ? SEALED_AGAIN_MS : false;
      return data?.envelope === null ? LISTED_AGAIN_MS : false;
    },
  });
