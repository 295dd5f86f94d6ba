import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { rememberSession, type Schemas } from '../kernel/client.ts';
import { meQuery, readMe } from '../kernel/queries.ts';

/** The event that tells of an ended session while the page stays open, because it holds unsaved drafts. */
export const SIGNED_OUT = 'console:signed-out';
const SIGNED_IN = 'console:signed-in';

/**
 * The same person has signed in again, in another tab. The new session has its own CSRF token, which every change
 * needs.
 */
export const goOnAs = (me: Schemas['Me'], queries: QueryClient): void => {
  rememberSession(me);
  queries.setQueryData(meQuery.queryKey, me);
  void queries.invalidateQueries();
  dispatchEvent(new Event(SIGNED_IN));
};

/**
 * Whether the session of this page is over. False again once the person has signed in in another tab and comes back.
 */
export const useIsSignedOut = (): boolean => {
  const queries = useQueryClient();
  const [isOut, setOut] = useState(false);
  useEffect(() => {
    const hear = ({ type }: Event): void => setOut(type === SIGNED_OUT);
    for (const type of [SIGNED_OUT, SIGNED_IN]) addEventListener(type, hear);
    return () => {
      for (const type of [SIGNED_OUT, SIGNED_IN]) removeEventListener(type, hear);
    };
  }, []);
  useEffect(() => {
    if (!isOut) return undefined;
    const ask = (): void =>
      void readMe().then(
        (me) => goOnAs(me, queries),
        () => undefined,
      );
    addEventListener('focus', ask);
    return () => removeEventListener('focus', ask);
  }, [isOut, queries]);
  return isOut;
};
