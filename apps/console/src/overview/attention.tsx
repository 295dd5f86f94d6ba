import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Icon, type IconName } from '../design/icon.tsx';
import type { Schemas } from '../kernel/client.ts';
import { Said, Time } from '../kit/kit.tsx';
import styles from './overview.module.css';

type Attention = Schemas['Attention'];

/**
 * What needs a person, each with its one next step.
 * @param waiting calls that wait for a person, those that run out soon among them
 */
export const AttentionList = ({
  attention,
  waiting,
}: {
  readonly attention: readonly Attention[];
  readonly waiting: number;
}) => {
  const others = waiting - attention.filter(({ kind }) => kind === 'approval_expiring').length;
  if (attention.length === 0 && others <= 0) {
    return (
      <p className={styles['calm']}>
        <Icon name="checkCircle" size={18} /> Nothing needs you.
      </p>
    );
  }
  return (
    <ul className={styles['attention']} aria-label="What needs a person">
      {attention.map((item) => (
        <Item key={`${item.kind}${item.ids.join()}${item.budget ?? ''}`} item={item} />
      ))}
      {others > 0 ? (
        <li data-tone="warn">
          <Icon name="people" size={18} />
          <span>{others === 1 ? 'A call waits for a person.' : `${others} calls wait for a person.`}</span>
          <Link href="/approvals">{others === 1 ? 'See it' : 'See them'}</Link>
        </li>
      ) : null}
    </ul>
  );
};

const Item = ({ item }: { readonly item: Attention }) => {
  const { icon, tone, says, step } = ITEMS[item.kind](item);
  return (
    <li data-tone={tone}>
      <Icon name={icon} size={18} />
      <span>{says}</span>
      <Link href={step.to}>{step.says}</Link>
    </li>
  );
};

interface Shown {
  readonly icon: IconName;
  readonly tone: 'bad' | 'warn';
  readonly says: ReactNode;
  readonly step: { readonly to: string; readonly says: string };
}

const firstOf = ({ ids }: Attention, prefix: string): string => ids.find((id) => id.startsWith(prefix)) ?? '';

const ITEMS: Readonly<Record<Attention['kind'], (item: Attention) => Shown>> = {
  chain_broken: ({ first_bad_seq: seq, reason }) => ({
    icon: 'shieldCross',
    tone: 'bad',
    says: `The chain of deeds is broken${seq === null || seq === undefined ? '' : ` at #${seq}`}: ${reason ?? 'the check failed'}. Tell the operator.`,
    step: { to: '/deeds', says: 'See the deeds' },
  }),
  org_stopped: ({ stopped_at: at }) => ({
    icon: 'octagon',
    tone: 'bad',
    says: (
      <>
        All agents are stopped
        {at === null || at === undefined ? null : (
          <>
            {' '}
            since <Time at={at} />
          </>
        )}
        .
      </>
    ),
    step: { to: '/actions?decision=deny', says: 'See what was refused' },
  }),
  mismatch: (item) => ({
    icon: 'crossCircle',
    tone: 'bad',
    says: (
      <>
        <code>
          <Said text={item.tool ?? ''} />
        </code>
        : <Said text={item.summary ?? 'what was found is not what was said'} />
      </>
    ),
    step: { to: `/actions/${firstOf(item, 'act_')}`, says: 'See what differs' },
  }),
  approval_expiring: (item) => ({
    icon: 'clock',
    tone: 'warn',
    says: (
      <>
        <code>
          <Said text={item.tool ?? ''} />
        </code>{' '}
        waits for a person, until {item.expires_at === undefined ? 'soon' : <Time at={item.expires_at} />}.
      </>
    ),
    step: { to: `/approvals/${firstOf(item, 'apr_')}`, says: 'Decide' },
  }),
  budget_near: (item) => {
    const agent = firstOf(item, 'agt_');
    const unit = item.currency === null || item.currency === undefined ? 'calls' : `${item.currency} (smallest unit)`;
    return {
      icon: 'alert',
      tone: 'warn',
      says: `Budget ${item.budget ?? ''}: ${item.used ?? 0} of ${item.limit ?? 0} ${unit} are used.`,
      step:
        agent === '' ? { to: '/actions', says: 'See the actions' } : { to: `/agents/${agent}`, says: 'See the agent' },
    };
  },
};
