import { useQuery } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from './client.ts';

/** The version of the running service, and where its documentation is. Cached for a minute, for all who show it. */
export const useVersion = () =>
  useQuery<Schemas['Version']>({
    queryKey: ['version'],
    queryFn: () => bodyOf(api.GET('/v1/version')),
    staleTime: 60_000,
  });

/**
 * An error code of the catalogue, linked to its documentation: at the published address, else at the pages that the
 * service itself serves.
 */
export const ErrorCode = ({ code }: { readonly code: string }) => {
  const docsUrl = useVersion().data?.docs_url ?? '/docs';
  return (
    <a href={`${docsUrl}/errors/${code}`} target="_blank" rel="noreferrer">
      <code>{code}</code>
    </a>
  );
};
