import { useQueryClient } from '@tanstack/react-query';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';

/**
 * A change of the organization's settings. It is named by what it sets: sent twice, it is the same.
 * @param after what was written and is saved now
 */
export const useSettingsChange = (after: () => void) => {
  const queries = useQueryClient();
  return useChange(
    (changes: Schemas['UpdateOrganization']) => bodyOf(api.PATCH('/v1/org', { body: changes })),
    (org) => {
      queries.setQueryData(['org'], org);
      void queries.invalidateQueries({ queryKey: ['me'] });
      after();
    },
  );
};
