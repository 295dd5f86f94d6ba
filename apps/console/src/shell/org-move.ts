import { useQueryClient } from '@tanstack/react-query';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf } from '../kernel/client.ts';

const PATHS = { stop: '/v1/org/stop', start: '/v1/org/start' } as const;

/**
 * A mutation that stops or starts all agents. The reason, if it is not empty, is in the deed. The organization in the
 * answer is shown at once.
 */
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
      // A read that began before the move would bring the old status back.
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
