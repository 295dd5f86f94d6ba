import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { readMe } from '../kernel/session.tsx';

/** The session is over, and the page stays: something was written here that is saved nowhere. */
export const SIGNED_OUT = 'console:signed-out';

/** Whether it is; not any more when somebody comes back from signing in in another tab. */
export const useIsSignedOut = (): boolean => {
  const queries = useQueryClient();
  const [isOut, setOut] = useState(false);
  useEffect(() => {
    const hear = (): void => setOut(true);
    addEventListener(SIGNED_OUT, hear);
    return () => removeEventListener(SIGNED_OUT, hear);
  }, []);
  useEffect(() => {
    if (!isOut) return undefined;
    // The new session has a token of its own, which every change needs.
    const ask = (): void =>
      void readMe().then(
        (me) => {
          setOut(false);
          queries.setQueryData(['me'], me);
          void queries.invalidateQueries();
        },
        () => undefined,
      );
    addEventListener('focus', ask);
    return () => removeEventListener('focus', ask);
  }, [isOut, queries]);
  return isOut;
};
