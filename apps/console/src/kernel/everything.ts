import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';
import { everyRow } from './every-row.ts';

const KEPT_MS = 60_000;

/** Every agent of the organization, for names, budgets and filters. */
export const useEveryAgent = (isWanted = true) =>
  useQuery({
    queryKey: ['agents', 'names'],
    queryFn: () => everyRow((query) => bodyOf(api.GET('/v1/agents', { params: { query } }))),
    staleTime: KEPT_MS,
    enabled: isWanted,
  });

export const useEveryConnector = () =>
  useQuery({
    queryKey: ['connectors', 'names'],
    queryFn: () => everyRow((query) => bodyOf(api.GET('/v1/connectors', { params: { query } }))),
    staleTime: KEPT_MS,
  });

export const useEveryPolicy = () =>
  useQuery({
    queryKey: ['policies', 'names'],
    queryFn: () => everyRow((query) => bodyOf(api.GET('/v1/policies', { params: { query } }))),
    staleTime: KEPT_MS,
  });
