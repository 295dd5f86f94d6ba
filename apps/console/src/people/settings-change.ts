import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { organizationQuery } from '../kernel/queries.ts';
import { useChanged } from '../kernel/refresh.ts';

/**
 * A mutation of the organization's settings. It needs no idempotency key: it sets values, so sending it twice has the
 * same result.
 * @param after called once the change is saved
 */
export const useSettingsChange = (after: () => void) => {
  const changed = useChanged();
  return useChange(
    (changes: Schemas['UpdateOrganization']) => bodyOf(api.PATCH('/v1/org', { body: changes })),
    (org) => {
      changed(['org', 'me'], { of: organizationQuery, is: org });
      after();
    },
  );
};
