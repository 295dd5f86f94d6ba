import type { ReactNode } from 'react';
import { Link } from 'wouter';
import styles from './settings.module.css';

/** What a change has done, as the service answered, with the deed that holds it. Null: nothing has changed. */
export const Sealed = ({
  deed,
  children,
}: {
  readonly deed: string | null | undefined;
  readonly children: ReactNode;
}) => (
  <p role="status" className={styles['sealed']}>
    {deed === null ? 'No changes.' : children}
    {typeof deed === 'string' ? (
      <>
        {' '}
        <Link href={`/deeds/${deed}`}>View deed</Link>
      </>
    ) : null}
  </p>
);
