import { useQuery } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from './client.ts';

/** What is running; asked once, and shown wherever it is needed. */
export const useVersion = () =>
  useQuery<Schemas['Version']>({
    queryKey: ['version'],
    queryFn: () => bodyOf(api.GET('/v1/version')),
    staleTime: 60_000,
  });

/** A code of the catalogue, leading to what it means: pages that the service itself has where no documentation is published. */
export const ErrorCode = ({ code }: { readonly code: string }) => {
  const docsUrl = useVersion().data?.docs_url ?? '/docs';
  return (
    <a href={`${docsUrl}/errors/${code}`} target="_blank" rel="noreferrer">
      <code>{code}</code>
    </a>
  );
};
