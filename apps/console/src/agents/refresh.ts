import { useQueryClient } from '@tanstack/react-query';
import type { Schemas } from '../kernel/client.ts';

/** Reads again what a change of an agent's keys has made old. */
export const useRefresh = ({ id }: Pick<Schemas['Agent'], 'id'>) => {
  const queries = useQueryClient();
  return (): void => {
    for (const key of [['agent', id], ['agents']]) void queries.invalidateQueries({ queryKey: key });
  };
};
