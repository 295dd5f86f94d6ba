import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { newKey } from './client.ts';
import { ApiError } from './errors.ts';

/**
 * A change that a person asks for: sent once, and again only by another press. While nobody knows whether it arrived, the same
 * wish has the same key, so that it cannot happen twice; after an answer the next press is a new wish.
 * @param send asks the API, with that key
 */
export const useChange = <Wish, Result>(
  send: (wish: Wish, key: string) => Promise<Result>,
  after: (result: Result) => void = () => undefined,
) => {
  const pending = useRef<{ readonly wish: string; readonly key: string } | null>(null);
  return useMutation<Result, Error, Wish>({
    mutationFn: async (wish) => {
      const text = JSON.stringify(wish);
      if (pending.current?.wish !== text) pending.current = { wish: text, key: newKey() };
      try {
        const result = await send(wish, pending.current.key);
        pending.current = null;
        return result;
      } catch (error) {
        if (!(error instanceof ApiError && error.isAnswerLost)) pending.current = null;
        throw error;
      }
    },
    onSuccess: after,
  });
};
