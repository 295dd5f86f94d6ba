import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { isOwnOrg } from './client.ts';
import { LiveCache } from './live-cache.ts';
import { Gatherer } from './live-events.ts';
import { LiveStream, type LiveStatus } from './live.ts';
import { readMe } from './queries.ts';

const POLL_MS = 15_000;

interface Live {
  readonly status: LiveStatus;
  /**
   * How many new rows the stream has told of since the page was opened, by the list's context. A list remembers the
   * number at its own read; the difference is what it does not show yet.
   */
  readonly heard: Readonly<Record<string, number>>;
  readonly heardNow: (list: string) => number;
  /** Events may have been missed since the lists were read. */
  readonly hasGap: boolean;
  readonly closeGap: () => void;
  readonly freshen: LiveCache['freshen'];
}

const LiveContext = createContext<Live>({
  status: 'connecting',
  heard: {},
  heardNow: () => 0,
  hasGap: false,
  closeGap: () => undefined,
  freshen: (rows) => rows,
});

export const useLive = (): Live => useContext(LiveContext);

/** Keeps cached data up to date: by the event stream, and by polling if there is no stream. */
export const LiveProvider = ({ children }: { readonly children: ReactNode }) => {
  const queries = useQueryClient();
  const [status, setStatus] = useState<LiveStatus>('connecting');
  const [heard, setHeard] = useState<Readonly<Record<string, number>>>({});
  const heardSoFar = useRef<Readonly<Record<string, number>>>({});
  const [hasGap, setGap] = useState(false);
  const cache = useMemo(
    () =>
      new LiveCache(queries, (list, count) => {
        heardSoFar.current = { ...heardSoFar.current, [list]: (heardSoFar.current[list] ?? 0) + count };
        setHeard(heardSoFar.current);
      }),
    [queries],
  );
  const isStarted = useRef(false);
  useEffect(() => {
    if (isStarted.current) return;
    isStarted.current = true;
    const gatherer = new Gatherer((events) => cache.apply(events));
    new LiveStream({
      onStatus: setStatus,
      // Another window switched the organization, so this window's data is no longer valid.
      onEvent: (event) => (isOwnOrg(event.org) ? gatherer.add(event) : location.reload()),
      onGap: () => setGap(true),
      stillSignedIn: readMe,
    }).start();
  }, [cache]);
  useEffect(() => {
    if (status !== 'polling') return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') cache.refetchVisible();
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [status, cache]);
  const live = useMemo<Live>(
    () => ({
      status,
      heard,
      heardNow: (list) => heardSoFar.current[list] ?? 0,
      hasGap,
      closeGap: () => setGap(false),
      freshen: (rows) => cache.freshen(rows),
    }),
    [status, heard, hasGap, cache],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
};
