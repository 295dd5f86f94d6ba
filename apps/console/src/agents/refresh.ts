import { useQueryClient } from '@tanstack/react-query';
import type { Schemas } from '../kernel/client.ts';

/** Returns a function that reads all queries of an agent again, after a change of its keys. */
export const useRefresh = ({ id }: Pick<Schemas['Agent'], 'id'>) => {
  const queries = useQueryClient();
  return (): void => {
    for (const key of [['agent', id], ['agents']]) void queries.invalidateQueries({ queryKey: key });
  };
};
