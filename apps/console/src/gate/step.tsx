import type { ReactNode } from 'react';
import { Icon, type IconName } from '../design/icon.tsx';
import kit from '../kit/kit.module.css';
import styles from './gate.module.css';

export type Tone = 'plain' | 'ok' | 'warn' | 'bad';

/** One step of an action, between its submission and its seal. */
export const Step = ({
  icon,
  tone = 'plain',
  title,
  badge,
  after,
  children,
}: {
  readonly icon: IconName;
  readonly tone?: Tone;
  readonly title: string;
  readonly badge?: ReactNode;
  /** When the step happened, as the time since the submission. */
  readonly after: ReactNode;
  readonly children?: ReactNode;
}) => (
  <li className={styles['step']}>
    <span className={styles['stepIcon']} data-tone={tone}>
      <Icon name={icon} size={15} />
    </span>
    <div className={styles['stepHead']}>
      <h2>{title}</h2>
      {badge}
      <span className={kit['number']}>{after}</span>
    </div>
    <div className={styles['stepBody']}>{children}</div>
  </li>
);
