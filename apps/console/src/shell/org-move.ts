import { useQueryClient } from '@tanstack/react-query';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf } from '../kernel/client.ts';

const PATHS = { stop: '/v1/org/stop', start: '/v1/org/start' } as const;

/** Stops or starts all agents, with a reason that the deed holds; the empty one is none. What the service answers stands at once. */
export const useOrgMove = (move: keyof typeof PATHS) => {
  const queries = useQueryClient();
  return useChange(
    async (reason: string, key) => {
      const changed = await bodyOf(
        api.POST(PATHS[move], {
          params: { header: { 'Idempotency-Key': key } },
          body: reason === '' ? {} : { reason },
        }),
      );
      // What was asked before it would say the opposite.
      await queries.cancelQueries({ queryKey: ['org'] });
      return changed;
    },
    (changed) => {
      queries.setQueryData(['org'], changed);
      void queries.invalidateQueries({ queryKey: ['me'] });
      void queries.invalidateQueries({ queryKey: ['overview'] });
    },
  );
};
