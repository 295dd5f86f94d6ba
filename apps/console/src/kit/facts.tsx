import type { ReactNode } from 'react';
import styles from './kit.module.css';

/** What is known of one thing, each by its name. */
export const Facts = ({ children }: { readonly children: ReactNode }) => (
  <dl className={styles['facts']}>{children}</dl>
);

export const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);
