import { queryOptions } from '@tanstack/react-query';
import type { Client, MethodResponse } from 'openapi-fetch';
import type { paths } from './api.d.ts';
import { type Answer, answerOf, api, bodyOf } from './client.ts';
import { everyRow } from './every-row.ts';
import { type Body, type Context, type Key, keyOf, LIST, type Params, type Route } from './keys.ts';
import type { Page } from './live-cache.ts';

/** Routes whose answer is a page of rows. */
export type ListRoute = {
  [R in Route]: Body<R> extends { data: readonly unknown[]; has_more: boolean } ? R : never;
}[Route];

type RowOf<R extends ListRoute> = Body<R> extends { data: readonly (infer Row)[] } ? Row : never;

interface Kept {
  /**
   * How many milliseconds an answer is fresh; by default as the shell sets it for all queries. `Infinity` and not
   * `static` for an answer that never changes: a static query whose read failed is not tried again by itself.
   */
  readonly staleTime?: number;
  /**
   * Events do not make it stale: it is a list that is patched in place, or one whose rows must not move under a finger.
   * Mutations do.
   */
  readonly isStill?: boolean;
  /** Neither events nor mutations make it stale: they do not change what is shown of its answer. */
  readonly isFixed?: boolean;
  /** The context that makes it stale, if that is not the context of its route. */
  readonly of?: Context;
  /** Keeps it apart from another query of the same route and parameters. */
  readonly as?: string;
  /** `no-cache`: the browser asks the service whether its own copy of the answer is still current. */
  readonly cache?: 'no-cache';
}

const keptBy = ({ staleTime, isStill = false, isFixed = false }: Kept) => ({
  ...(staleTime === undefined ? {} : { staleTime }),
  meta: { isStill: isStill || isFixed, isFixed },
});

const keyIn = <R extends Route>(route: R, params: Params<R>, { of, as }: Kept, ...names: readonly string[]): Key => {
  const [context, ...rest] = keyOf(route, params, ...names, ...(as === undefined ? [] : [as]));
  return [of ?? context, ...rest];
};

const ask = <R extends Route>(route: R, params: Params<R>, cache?: 'no-cache'): Promise<Answer<Body<R>>> =>
  // The types of the parameters and of the body are made from the same document as the client's.
  (api.GET as (route: string, init: object) => Promise<unknown>)(route, {
    params,
    ...(cache === undefined ? {} : { cache }),
  }) as Promise<Answer<Body<R>>>;

/** A query of one route: its key, the function that reads it, and how long the answer is fresh. */
export const query = <R extends Route>(route: R, params: Params<R>, kept: Kept = {}) =>
  queryOptions<Body<R>, Error, Body<R>, Key>({
    queryKey: keyIn(route, params, kept),
    queryFn: () => bodyOf(ask(route, params, kept.cache)),
    ...keptBy(kept),
  });

interface Lagging<Answered> {
  readonly body: Answered;
  readonly lag: number;
}

/** As `query`, with how many events the answer is behind. */
export const laggingQuery = <R extends Route>(route: R, params: Params<R>, kept: Kept = {}) =>
  queryOptions<Lagging<Body<R>>, Error, Lagging<Body<R>>, Key>({
    queryKey: keyIn(route, params, kept),
    queryFn: () => answerOf(ask(route, params)),
    ...keptBy(kept),
  });

const paged = <R extends ListRoute>(params: Params<R>, page: object): Params<R> => ({
  ...params,
  query: { ...(params as { readonly query?: object }).query, ...page },
});

/**
 * A query of all rows of a list, `EVERY_ROW_MAX` at most.
 * @param kept with `tooMany`, a list of more rows is an error with that sentence, which says what to do instead. Needed
 * wherever a part of the list must not pass as the whole, such as where rows are counted or chosen from.
 */
export const everyOf = <R extends ListRoute>(
  route: R,
  params: Params<R>,
  { tooMany, ...kept }: Kept & { readonly tooMany?: string } = {},
) =>
  queryOptions<{ readonly data: readonly RowOf<R>[] }, Error, { readonly data: readonly RowOf<R>[] }, Key>({
    queryKey: keyIn(route, params, kept, 'every'),
    queryFn: () =>
      everyRow((page) => bodyOf(ask(route, paged(params, page))) as unknown as Promise<Page<RowOf<R>>>, tooMany),
    ...keptBy(kept),
  });

/** A list that is shown page by page: `useList`. */
export interface Pages<Row> {
  readonly queryKey: Key;
  readonly isStill: boolean;
  readonly read: (cursor?: string) => Promise<Lagging<Page<Row>>>;
}

export const PAGE_SIZE = 50;

/**
 * A list, to be shown page by page.
 * @param rowOf makes a row of what the API answers, where that has no `id`
 */
export const pagesOf = <R extends ListRoute, Row extends { readonly id: string } = RowOf<R> & { readonly id: string }>(
  route: R,
  params: Params<R>,
  { rowOf, ...kept }: Pick<Kept, 'isStill'> & { readonly rowOf?: (row: RowOf<R>) => Row } = {},
): Pages<Row> => ({
  queryKey: keyIn(route, params, kept, LIST),
  isStill: kept.isStill ?? false,
  read: async (cursor) => {
    const page = { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
    const { body, lag } = await answerOf(ask(route, paged(params, page)));
    const read = body as unknown as Page<RowOf<R>>;
    return { body: { ...read, data: rowOf === undefined ? (read.data as never) : read.data.map(rowOf) }, lag };
  },
});

/** The routes that answer a question about what is sent to them, and change nothing. */
type Question = '/v1/policies/lint' | '/v1/policies/preview';
type Sent<R extends Question> = paths[R]['post'] extends {
  requestBody: { content: { 'application/json': infer B } };
}
  ? B
  : never;
type Judged<R extends Question> = MethodResponse<Client<paths>, 'post', R>;

/**
 * A query that asks about what is sent, such as an unsaved text. It is in no context, so that no change makes the
 * service judge the same text again. A question that nobody waits for any more is aborted.
 */
export const question = <R extends Question>(route: R, body: Sent<R>, staleTime: number) =>
  queryOptions<Judged<R>, Error, Judged<R>, readonly ['question', R, Sent<R>]>({
    queryKey: ['question', route, body],
    queryFn: ({ signal }) =>
      bodyOf(
        (api.POST as (route: string, init: object) => Promise<unknown>)(route, { body, signal }) as Promise<
          Answer<Judged<R>>
        >,
      ),
    staleTime,
    gcTime: staleTime,
  });
