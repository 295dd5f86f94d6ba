import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answerOf, api, bodyOf, type Schemas } from '../kernel/client.ts';
import { PAGE_SIZE, useList } from '../kernel/lists.ts';

/** Polled, because no event tells of an emptied slot or of a saved version. */
const ASK_AGAIN_MS = 15_000;

export const useSlots = () =>
  useQuery({
    queryKey: ['policy-slots'],
    queryFn: () => bodyOf(api.GET('/v1/policies/slots')),
    refetchInterval: ASK_AGAIN_MS,
  });

export const usePolicy = (id: string) =>
  useQuery({
    queryKey: ['policy', id],
    queryFn: () => bodyOf(api.GET('/v1/policies/{id}', { params: { path: { id } } })),
    refetchInterval: ASK_AGAIN_MS,
  });

/** @param version its number or its id; null reads nothing */
export const usePolicyVersion = (id: string, version: string | null) =>
  useQuery({
    queryKey: ['policy-version', id, version],
    queryFn: () => bodyOf(api.GET('/v1/policies/{id}/versions/{v}', { params: { path: { id, v: version ?? '' } } })),
    enabled: version !== null,
  });

export const useVersions = (id: string) =>
  useList(['policy-versions', id], (cursor) =>
    answerOf(
      api.GET('/v1/policies/{id}/versions', {
        params: { path: { id }, query: { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );

export const useLanguage = () =>
  useQuery({
    queryKey: ['policy-language'],
    queryFn: () => bodyOf(api.GET('/v1/policies/language')),
    staleTime: Infinity,
  });

const TOOLS_A_PAGE = 100;
/** More than these pages of tools would be too many to choose from. */
const MAX_TOOL_PAGES = 10;

const readTools = async () => {
  const tools: Schemas['Tool'][] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_TOOL_PAGES; pages += 1) {
    const query = { limit: TOOLS_A_PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const { data, next_cursor: next } = await bodyOf(api.GET('/v1/tools', { params: { query } }));
    tools.push(...data);
    if (next === null || next === undefined) break;
    cursor = next;
  }
  return tools;
};

/** The tools of all connectors, up to 1,000. */
export const useTools = () => useQuery({ queryKey: ['tools'], queryFn: readTools, staleTime: 60_000 });

/**
 * Returns whether no connector has a tool of that name. False while the tools are loading, and if there are more than
 * were read.
 */
export const useIsUnknownTool = (): ((tool: string) => boolean) => {
  const { data: tools = [] } = useTools();
  const isAll = tools.length > 0 && tools.length < TOOLS_A_PAGE * MAX_TOOL_PAGES;
  return (name) => isAll && !tools.some((tool) => tool.name === name);
};

/** Returns a function that reads all shown policies again, after a change made on this page. */
export const useReread = (): (() => void) => {
  const queries = useQueryClient();
  return () => {
    for (const key of ['policy-slots', 'policies', 'policy', 'policy-version', 'policy-versions', 'shadow-differs'])
      void queries.invalidateQueries({ queryKey: [key] });
  };
};

/** The value once it has been unchanged for `ms`, so that typing does not send a request for each letter. */
export const usePaused = <Value>(value: Value, ms: number): Value => {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return paused;
};

const LINT_PAUSE_MS = 200;

/** The findings about a source, asked for after a pause in typing. A request about an earlier text is aborted. */
export const useLint = (source: string, isWanted: boolean) => {
  const paused = usePaused(source, LINT_PAUSE_MS);
  const query = useQuery({
    queryKey: ['policy-lint', paused],
    queryFn: ({ signal }) => bodyOf(api.POST('/v1/policies/lint', { body: { source: paused }, signal })),
    enabled: isWanted,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    gcTime: 60_000,
  });
  return { ...query, isOfThis: paused === source && !query.isPlaceholderData && query.data !== undefined };
};
