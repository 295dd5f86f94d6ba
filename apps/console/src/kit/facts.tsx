import type { ReactNode } from 'react';
import styles from './kit.module.css';

/** A list of names and values about one object. */
export const Facts = ({ children }: { readonly children: ReactNode }) => (
  <dl className={styles['facts']}>{children}</dl>
);

export const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);
