import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Icon, type IconName } from '../design/icon.tsx';

/** One line of what needs attention, with a link to the next step at its end. */
export const NeedLine = ({
  icon,
  tone,
  to,
  step,
  children,
}: {
  readonly icon: IconName;
  readonly tone: 'bad' | 'warn';
  readonly to: string;
  readonly step: string;
  readonly children: ReactNode;
}) => (
  <li data-tone={tone}>
    <Icon name={icon} size={18} />
    <span>{children}</span>
    <Link href={to}>{step}</Link>
  </li>
);
