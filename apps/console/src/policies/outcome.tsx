import { Icon } from '../design/icon.tsx';
import type { Schemas } from '../kernel/client.ts';
import { Badge } from '../kit/badges.tsx';
import styles from './policies.module.css';

export type Outcome = Schemas['Outcome'];

const OUTCOMES = {
  allow: ['ok', 'check', 'allow'],
  deny: ['refused', 'ban', 'deny'],
  require_approval: ['warn', 'people', 'require approval'],
} as const;

export const OutcomeBadge = ({ outcome }: { readonly outcome: Outcome }) => {
  const [tone, icon, word] = OUTCOMES[outcome];
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
};

export const OutcomeChange = ({ from, to }: { readonly from: Outcome; readonly to: Outcome }) => (
  <span className={styles['change']}>
    <OutcomeBadge outcome={from} />
    <span className="visually-hidden">becomes</span>
    <Icon name="right" size={14} />
    <OutcomeBadge outcome={to} />
  </span>
);

/** What decisions are compared with, in words that follow `than`: the enforced version or the recorded decisions. */
export const comparedWords = ({ basis, version }: Schemas['ComparedWith'], by = ''): string =>
  basis === 'enforced' ? `${by}version ${version}, which is enforced now` : 'recorded';

/** The rule that decided, as a link to its place in the text; `the default` if none did. */
export const Rule = ({ id, onRule }: { readonly id: string | null; readonly onRule: (id: string) => void }) =>
  id === null ? (
    <>the default</>
  ) : (
    <button type="button" className={styles['ruleLink']} title="Go to this rule" onClick={() => onRule(id)}>
      <code>{id}</code>
    </button>
  );

/** `1,204 calls` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
