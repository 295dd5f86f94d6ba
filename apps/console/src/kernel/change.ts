import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { newKey } from './client.ts';
import { ApiError } from './errors.ts';

/**
 * A mutation that a person asks for. It is sent once; only another press sends it again. While the answer to a wish is
 * lost, the same wish is sent under the same idempotency key, so that it cannot be applied twice. After an answer, the
 * next press is a new wish with a new key.
 * @param send asks the API, under the given idempotency key
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
