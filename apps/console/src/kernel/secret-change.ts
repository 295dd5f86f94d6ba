import { useState } from 'react';
import { useChange } from './change.ts';
import { takeSecret } from './secret.ts';

/**
 * A mutation whose answer holds a secret. The secret is kept apart from the remembered answer, in `shown`, until
 * `forget` is called. It is null in the answer to a retry: the service shows a secret only once, in the answer that was
 * lost.
 */
export const useSecretChange = <Wish, Result extends { readonly secret?: string | null }>(
  send: (wish: Wish, key: string) => Promise<Result>,
  after: (result: Omit<Result, 'secret'>) => void = () => undefined,
) => {
  const [shown, setShown] = useState<{ readonly secret: string | null } | null>(null);
  const change = useChange<Wish, Omit<Result, 'secret'>>(async (wish, key) => {
    const { secret, rest } = takeSecret(await send(wish, key));
    setShown({ secret });
    return rest;
  }, after);
  return { ...change, shown, forget: () => setShown(null) };
};
