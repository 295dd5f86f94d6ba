import { Icon, type IconName } from '../design/icon.tsx';
import type { Schemas } from '../kernel/client.ts';
import { cx, None } from './kit.tsx';
import styles from './kit.module.css';

type Tone = 'ok' | 'warn' | 'bad' | 'accent' | 'quiet' | 'refused' | 'plainBadge';

export const Badge = ({
  tone,
  icon,
  children,
  title,
  level,
}: {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly children: string;
  /** The meaning in full: a tooltip, and what screen readers read instead of the word. */
  readonly title?: string;
  readonly level?: number;
}) => (
  <span className={cx(styles['badge'], styles[tone])} title={title}>
    <Icon name={icon} size={14} />
    <span aria-hidden={title === undefined ? undefined : true}>{children}</span>
    {title === undefined ? null : <span className="visually-hidden">{title}</span>}
    {level === undefined ? null : (
      <span className={styles['bars']} aria-hidden="true">
        {[1, 2, 3].map((bar) => (
          <i key={bar} data-full={bar <= level ? '' : undefined} />
        ))}
      </span>
    )}
  </span>
);

export type BadgeLook = readonly [tone: Tone, icon: IconName, word: string];

/** A badge for one of a few statuses, with its look from the screen's own table. */
export const LookBadge = ({ look: [tone, icon, word] }: { readonly look: BadgeLook }) => (
  <Badge tone={tone} icon={icon}>
    {word}
  </Badge>
);

export interface Evidence {
  readonly level: Schemas['Level'];
  readonly verdict: Schemas['Verdict'];
}

const LEVELS = {
  L0: { bars: 1, verified: 'Reported', means: 'reported by the tool' },
  L1: { bars: 2, verified: 'Confirmed', means: 'read back' },
  L2: { bars: 3, verified: 'Witnessed', means: 'the system of record' },
} as const;

/** How well it is known what the tool did. Level L0, the tool's own word, is never green. */
export const EvidenceBadge = ({ witness }: { readonly witness: Evidence | null }) => {
  if (witness === null) return <None />;
  const { bars, verified, means } = LEVELS[witness.level];
  const title = `${witness.verdict} at ${witness.level}: ${means}`;
  switch (witness.verdict) {
    case 'VERIFIED':
      return (
        <Badge tone={bars === 1 ? 'plainBadge' : 'ok'} icon="check" title={title} level={bars}>
          {verified}
        </Badge>
      );
    case 'MISMATCH':
      return (
        <Badge tone="bad" icon="crossCircle" title={title} level={bars}>
          Mismatch
        </Badge>
      );
    case 'UNVERIFIABLE':
      return (
        <Badge tone="warn" icon="alert" title={title} level={bars}>
          Unverifiable
        </Badge>
      );
  }
};

export type ActionStatus = Schemas['ActionStatus'];

const STATUSES: Readonly<Record<ActionStatus | 'unknown', BadgeLook>> = {
  executed: ['ok', 'checkCircle', 'Executed'],
  failed: ['bad', 'crossCircle', 'Failed'],
  processing: ['accent', 'spinner', 'Processing'],
  authorized: ['accent', 'dashes', 'Authorized'],
  pending_approval: ['warn', 'clock', 'Waiting for approval'],
  denied: ['refused', 'ban', 'Denied'],
  expired: ['quiet', 'clock', 'Expired'],
  cancelled: ['quiet', 'ban', 'Cancelled'],
  unknown: ['warn', 'question', 'Unknown'],
};

interface Outcome {
  readonly status: ActionStatus;
  readonly execution: { readonly status: string } | null;
}

/**
 * The status of an action. `executed` with an unknown outcome is shown as unknown, because it is not certain that the
 * call was applied.
 */
export const StatusBadge = ({ status, execution }: Outcome) => {
  const shown = status === 'executed' && execution?.status === 'unknown' ? 'unknown' : status;
  return <LookBadge look={STATUSES[shown]} />;
};

const APPROVALS = {
  pending: ['warn', 'clock', 'Waiting for approval'],
  approved: ['ok', 'checks', 'Approved'],
  denied: ['refused', 'ban', 'Denied'],
  expired: ['quiet', 'clock', 'Expired'],
  cancelled: ['quiet', 'ban', 'Cancelled'],
} as const satisfies Record<string, BadgeLook>;

export const ApprovalBadge = ({ status }: { readonly status: keyof typeof APPROVALS }) => (
  <LookBadge look={APPROVALS[status]} />
);

const AGENTS = {
  active: ['ok', 'checkCircle', 'Active'],
  stopped: ['bad', 'octagon', 'Stopped'],
  suspended: ['warn', 'pause', 'Suspended'],
} as const satisfies Record<string, BadgeLook>;

export const AgentBadge = ({ status }: { readonly status: keyof typeof AGENTS }) => <LookBadge look={AGENTS[status]} />;

const LEVEL_WORDS = {
  L0: ['Reported only', 'L0: reported by the tool'],
  L1: ['Can be confirmed', 'L1: read back'],
  L2: ['Can be witnessed', 'L2: the system of record'],
} as const;

/** How well an outcome of this tool can be verified: the best of the levels that the tool offers. */
export const LevelsBadge = ({ levels }: { readonly levels: readonly (keyof typeof LEVEL_WORDS)[] }) => {
  const best = levels.includes('L2') ? 'L2' : levels.includes('L1') ? 'L1' : 'L0';
  const [word, title] = LEVEL_WORDS[best];
  return (
    <Badge tone="plainBadge" icon="check" title={title} level={LEVELS[best].bars}>
      {word}
    </Badge>
  );
};

const EFFECTS: Readonly<Record<string, BadgeLook>> = {
  read: ['plainBadge', 'eye', 'Read'],
  write: ['plainBadge', 'send', 'Write'],
  destructive: ['bad', 'triangle', 'Destructive'],
};

const UNKNOWN_EFFECT: BadgeLook = ['warn', 'question', 'Unknown effect'];

export const EffectBadge = ({ effect }: { readonly effect: string }) => (
  <LookBadge look={EFFECTS[effect] ?? UNKNOWN_EFFECT} />
);
