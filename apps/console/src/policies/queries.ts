import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { EVERY_ROW_MAX } from '../kernel/every-row.ts';
import { everyOf, pagesOf, query, question } from '../kernel/query.ts';
import { useChanged } from '../kernel/refresh.ts';

/** Polled, because no event tells of an emptied slot or of a saved version. */
const ASK_AGAIN_MS = 15_000;

/** Every policy of the organization, for names. */
export const everyPolicy = everyOf('/v1/policies', {}, { staleTime: 60_000 });

export const policyPages = pagesOf('/v1/policies', {});

export const newestPolicy = query('/v1/policies', { query: { limit: 1 } });

export const slotsQuery = query('/v1/policies/slots', {});

export const useSlots = () => useQuery({ ...slotsQuery, refetchInterval: ASK_AGAIN_MS });

export const usePolicy = (id: string) =>
  useQuery({ ...query('/v1/policies/{id}', { path: { id } }), refetchInterval: ASK_AGAIN_MS });

/** Still, because it is shown for its text, which a version never changes. */
export const versionQuery = (id: string, version: string) =>
  query('/v1/policies/{id}/versions/{v}', { path: { id, v: version } }, { isStill: true });

/** @param version its number or its id; null reads nothing */
export const usePolicyVersion = (id: string, version: string | null) =>
  useQuery({ ...versionQuery(id, version ?? ''), enabled: version !== null });

/** Still: a version that somebody else saved would move all others by one row. */
export const versionPages = (id: string) => pagesOf('/v1/policies/{id}/versions', { path: { id } }, { isStill: true });

/** The names of the policy language, which change with the version of the service. */
export const languageQuery = query('/v1/policies/language', {}, { isFixed: true, staleTime: Infinity });

export const replaysQuery = (policy: string, limit: number) => query('/v1/replays', { query: { policy, limit } });

/** The tools of all connectors. */
export const useTools = () =>
  useQuery({ ...everyOf('/v1/tools', {}, { staleTime: 60_000 }), select: ({ data }) => data });

/**
 * Returns whether no connector has a tool of that name. False while the tools are loading, and if there are more than
 * were read.
 */
export const useIsUnknownTool = (): ((tool: string) => boolean) => {
  const { data: tools = [] } = useTools();
  const isAll = tools.length > 0 && tools.length < EVERY_ROW_MAX;
  return (name) => isAll && !tools.some((tool) => tool.name === name);
};

/** Returns a function that reads all shown policies again, after a change made on this page. */
export const useReread = (): (() => void) => {
  const changed = useChanged();
  // What a version in shadow would have decided differently is told by actions.
  return () => changed(['policies', 'actions']);
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

const JUDGED_STALE_MS = 60_000;
const LINT_PAUSE_MS = 200;

/** The findings about a source, asked for after a pause in typing. A request about an earlier text is aborted. */
export const useLint = (source: string, isWanted: boolean) => {
  const paused = usePaused(source, LINT_PAUSE_MS);
  const asked = useQuery({
    ...question('/v1/policies/lint', { source: paused }, JUDGED_STALE_MS),
    enabled: isWanted,
    placeholderData: keepPreviousData,
  });
  return { ...asked, isOfThis: paused === source && !asked.isPlaceholderData && asked.data !== undefined };
};

export interface PreviewWish {
  readonly source: string;
  /** How many of the newest actions to judge, from 100 to 2,000. */
  readonly actions: number;
  readonly agent: string | null;
  readonly tool: string | null;
}

/** What a text would have decided about the newest actions. */
export const previewQuery = ({ source, actions, agent, tool }: PreviewWish) =>
  question(
    '/v1/policies/preview',
    { source, actions, ...(agent === null ? {} : { agent }), ...(tool === null ? {} : { tool }) },
    JUDGED_STALE_MS,
  );

/** The code of the editor, which is loaded when it is first shown. */
export const editorCode = queryOptions({
  queryKey: ['editor-code'],
  queryFn: () => import('./code-editor.ts'),
  staleTime: Infinity,
  gcTime: Infinity,
});
