import { useQuery } from '@tanstack/react-query';
import { versionQuery } from './queries.ts';

export const useVersion = () => useQuery(versionQuery);

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
