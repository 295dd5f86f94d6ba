import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { AgentBudgets } from '../agents/budgets.tsx';
import { everyAgent } from '../agents/queries.ts';
import { useWaitingApprovals } from '../approvals/queries.ts';
import { useFilters } from '../kernel/address.ts';
import type { Schemas } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { useSession } from '../kernel/session.tsx';
import { AgentBadge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { Segments } from '../kit/segments.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { AttentionList } from './attention.tsx';
import { Legend } from '../kit/chart.tsx';
import { Bars } from './bars.tsx';
import { BeginHere, useHasBegun } from './begin-here.tsx';
import { needsOf, type Waiting } from './needs.ts';
import { KEPT_MS, overviewQuery } from './queries.ts';
import styles from './overview.module.css';

type Overview = Schemas['Overview'];
type Window = Overview['window'];

const WINDOWS: readonly (readonly [Window, string])[] = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
];

/** Answers whether anything needs a person, within the first screenful. */
export const OverviewScreen = () => {
  const { filters } = useFilters();
  const window: Window = filters.get('window') === '7d' ? '7d' : '24h';
  const { data, error, refetch } = useQuery({
    ...overviewQuery(window),
    refetchInterval: KEPT_MS + 2_000,
  });
  return (
    <>
      <ScreenHead
        title="Overview"
        action={<Segments name="window" label="Time range" choices={WINDOWS} chosen={window} byDefault="24h" />}
      />
      {data === undefined ? (
        error === null ? (
          <Bones count={5} />
        ) : (
          <Failure error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <Whole overview={data} />
      )}
    </>
  );
};

const PARTS = [
  { name: 'asked', tone: 'accent' },
  { name: 'blocked', tone: 'bad' },
] as const;

const Whole = ({ overview }: { readonly overview: Overview }) => {
  const { data: waiting = null } = useWaitingApprovals();
  const isNew = overview.agents.length === 0 && overview.actions.total === 0;
  const hasBegun = useHasBegun(isNew);
  const needs = needsOf({ attention: overview.attention, pending: overview.approvals.pending }, waiting, serverNow());
  if (isNew && hasBegun === null) return <Bones count={5} />;
  const isToBegin = isNew && hasBegun === false;
  return (
    <div className={styles['stack']}>
      {isToBegin && needs?.length === 0 ? null : <AttentionList needs={needs} from={overview.from} />}
      {isToBegin ? (
        <BeginHere />
      ) : (
        <>
          <Numbers overview={overview} waiting={waiting} />
          <Panel title="Actions over time" aside={<Legend parts={PARTS} />}>
            <Bars overview={overview} />
          </Panel>
          <Agents agents={overview.agents} />
        </>
      )}
    </div>
  );
};

/** What the window before is called. */
const PREVIOUS = { '24h': 'previous 24 h', '7d': 'previous 7 days' } as const satisfies Record<Window, string>;

const Numbers = ({ overview, waiting }: { readonly overview: Overview; readonly waiting: Waiting | null }) => {
  const { actions, blocked, verdicts, approvals, previous, from, to } = overview;
  const before = (value: number) => ({ name: PREVIOUS[overview.window], value });
  const between = `created_at[gte]=${from}&created_at[lt]=${to}`;
  return (
    <ul className={styles['numbers']}>
      <Figure name="Actions" value={actions.total} before={before(previous.actions.total)} to={`/actions?${between}`} />
      <Figure
        name="Blocked"
        value={blocked.total}
        before={before(previous.blocked.total)}
        note={`policy ${blocked.policy}, budget ${blocked.budget}, Stop ${blocked.stop}`}
        to={`/actions?decision=deny&${between}`}
      />
      <Figure
        name="Mismatches"
        value={verdicts.mismatch}
        before={before(previous.verdicts.mismatch)}
        note={`${verdicts.verified} verified, ${verdicts.unverifiable} unverifiable`}
        isBad={verdicts.mismatch > 0}
        to={`/actions?verdict=MISMATCH&${between}`}
      />
      <Figure
        name="Waiting for approval"
        value={waiting === null || waiting.has_more ? approvals.pending : waiting.data.length}
        to="/approvals"
      />
    </ul>
  );
};

const Figure = ({
  name,
  value,
  before,
  note,
  isBad = false,
  to,
}: {
  readonly name: string;
  readonly value: number;
  /** The value in the window before; absent if the value does not depend on the window. */
  readonly before?: { readonly name: string; readonly value: number };
  readonly note?: string;
  readonly isBad?: boolean;
  readonly to: string;
}) => (
  <li>
    <Link href={to} className={styles['figure'] ?? ''} data-bad={isBad ? '' : undefined}>
      <span>{name}</span>
      <strong>{value.toLocaleString('en')}</strong>
      <small>{before === undefined ? 'now' : `${before.name}: ${before.value.toLocaleString('en')}`}</small>
      {note === undefined ? null : <small>{note}</small>}
    </Link>
  </li>
);

/** The budgets of all agents, by agent id; the overview has only what is used. */
const useBudgets = (): ReadonlyMap<string, Schemas['Budgets']> => {
  const { data } = useQuery(everyAgent);
  return useMemo(() => new Map(data?.data.map(({ id, budgets }) => [id, budgets])), [data]);
};

const Limits = ({
  budgets,
  usage,
}: {
  readonly budgets: Schemas['Budgets'] | undefined;
  readonly usage: Schemas['AgentUsage'];
}) =>
  budgets === undefined || (budgets.calls_per_day === null && budgets.spend_per_day === null) ? null : (
    <div className={styles['limits']}>
      <AgentBudgets agent={{ budgets, usage }} />
    </div>
  );

const Agents = ({ agents }: { readonly agents: Overview['agents'] }) => {
  const { times } = useSession();
  const budgets = useBudgets();
  const [first] = agents;
  return (
    <Panel
      title={
        first === undefined
          ? 'Agents'
          : `Agents, most recently active (today: ${times.date(`${first.usage.day}T12:00:00Z`)})`
      }
      aside={<Link href="/agents">All agents</Link>}
    >
      {first === undefined ? <p className={kit['dim']}>No agent has submitted a call yet.</p> : null}
      <ul className={styles['agents']}>
        {agents.map(({ id, name, status, usage }) => (
          <li key={id}>
            <Link href={`/agents/${id}`}>
              <Said text={name} />
            </Link>
            <AgentBadge status={status} />
            <small>
              {usage.calls} {usage.calls === 1 ? 'call' : 'calls'} today
              {usage.last_action_at === null ? null : (
                <>
                  , last <Time at={usage.last_action_at} />
                </>
              )}
            </small>
            <Limits budgets={budgets.get(id)} usage={usage} />
          </li>
        ))}
      </ul>
    </Panel>
  );
};
