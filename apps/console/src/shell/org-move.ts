import { useQueryClient } from '@tanstack/react-query';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf } from '../kernel/client.ts';
import { organizationQuery } from '../kernel/queries.ts';
import { useChanged } from '../kernel/refresh.ts';

const PATHS = { stop: '/v1/org/stop', start: '/v1/org/start' } as const;

/**
 * A mutation that stops or starts all agents. The reason, if it is not empty, is in the deed. The organization in the
 * answer is shown at once.
 */
export const useOrgMove = (move: keyof typeof PATHS) => {
  const queries = useQueryClient();
  const changed = useChanged();
  return useChange(
    async (reason: string, key) => {
      const moved = await bodyOf(
        api.POST(PATHS[move], {
          params: { header: { 'Idempotency-Key': key } },
          body: reason === '' ? {} : { reason },
        }),
      );
      // A read that began before the move would bring the old status back.
      await queries.cancelQueries({ queryKey: organizationQuery.queryKey });
      return moved;
    },
    (moved) => changed(['org', 'me', 'overview'], { of: organizationQuery, is: moved }),
  );
};
