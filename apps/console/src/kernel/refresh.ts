import { type DataTag, hashKey, type QueryClient, useQueryClient } from '@tanstack/react-query';
import type { Context, Key } from './keys.ts';

/**
 * Makes all queries of the contexts stale, but for those that are `isFixed`. Those on the screen are read again at
 * once, others when they are shown.
 */
export const invalidate = (queries: QueryClient, contexts: readonly Context[], except?: Key): void => {
  const kept = except === undefined ? null : hashKey(except);
  void queries.invalidateQueries({
    predicate: ({ queryKey, queryHash, meta }) =>
      contexts.includes(queryKey[0] as Context) && queryHash !== kept && meta?.['isFixed'] !== true,
  });
};

/** What an answer has told of one query: its new data, or that there is nothing to read any more. */
type Known<Data> =
  | { readonly of: { readonly queryKey: DataTag<Key, Data, Error> }; readonly is: NoInfer<Data> }
  | { readonly gone: { readonly queryKey: Key } };

/**
 * Returns what a mutation calls once it is answered, with the contexts that it changed. If the answer already is the new
 * data of a query, as that of `PATCH /v1/agents/{id}` is, that query takes it, and is not read again.
 */
export const useChanged = () => {
  const queries = useQueryClient();
  return <Data>(contexts: readonly Context[], known?: Known<Data>): void => {
    if (known === undefined) invalidate(queries, contexts);
    else if ('gone' in known) invalidate(queries, contexts, known.gone.queryKey);
    else {
      queries.setQueryData<unknown>(known.of.queryKey, known.is);
      invalidate(queries, contexts, known.of.queryKey);
    }
  };
};
