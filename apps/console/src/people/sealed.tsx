import type { ReactNode } from 'react';
import { Link } from 'wouter';
import styles from './settings.module.css';

/** Confirms a change in words, with a link to its deed. Without a deed (null), nothing has changed. */
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
