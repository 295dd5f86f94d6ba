import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { everyAgent } from '../agents/queries.ts';
import { useFilters } from '../kernel/address.ts';
import { serverNow } from '../kernel/clock.ts';
import { useSession } from '../kernel/session.tsx';
import { Failure, Lag } from '../kit/failure.tsx';
import { Bones, Empty, Panel } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { Segments } from '../kit/segments.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { Legend } from '../kit/chart.tsx';
import { DayBars } from './day-bars.tsx';
import styles from './insights.module.css';
import { LinesTable } from './lines-table.tsx';
import { decisionsQuery, verdictsQuery } from './queries.ts';
import {
  type By,
  DECISION_PARTS,
  type Decisions,
  type Line,
  type Part,
  VERDICT_PARTS,
  type Verdicts,
} from './stats.ts';

type Window = Decisions['window'];

const WINDOWS: readonly (readonly [Window, string])[] = [
  ['7d', '7 days'],
  ['30d', '30 days'],
];
const GROUPS: readonly (readonly [By, string])[] = [
  ['day', 'By day'],
  ['rule', 'By rule'],
  ['tool', 'By tool'],
  ['agent', 'By agent'],
];

const REFRESH_MS = 60_000;

const useStats = (window: Window, by: By) => {
  const decisions = useQuery({ ...decisionsQuery(window, by), refetchInterval: REFRESH_MS });
  const verdicts = useQuery({ ...verdictsQuery(window, by), refetchInterval: REFRESH_MS });
  return { decisions, verdicts };
};

/** Decisions and verdicts over days; each number links to the actions that it counts. */
export const InsightsScreen = () => {
  const { filters } = useFilters();
  const { times } = useSession();
  const window = WINDOWS.find(([value]) => value === filters.get('window'))?.[0] ?? '7d';
  const by = GROUPS.find(([value]) => value === filters.get('by'))?.[0] ?? 'day';
  const { decisions, verdicts } = useStats(window, by);
  const names = useAgentNames(by === 'agent');
  const failed = decisions.error !== null ? decisions : verdicts.error !== null ? verdicts : null;
  return (
    <>
      <ScreenHead
        title="Insights"
        about={`Decisions and verdicts over whole days of the organization’s time zone (${times.zoneName(serverNow())}), today included.`}
      />
      <div className={styles['choices']}>
        <div>
          <Segments name="window" label="Time range" choices={WINDOWS} chosen={window} byDefault="7d" />
          <Segments name="by" label="Group by" choices={GROUPS} chosen={by} byDefault="day" />
        </div>
        <Lag events={decisions.data?.lag ?? 0} />
      </div>
      {failed !== null ? (
        <Failure error={failed.error} onRetry={() => void failed.refetch()} />
      ) : decisions.data === undefined || verdicts.data === undefined ? (
        <Bones count={6} />
      ) : decisions.data.body.data.every(({ total }) => total === 0) ? (
        <NoActions window={window} />
      ) : (
        <div className={kit['stack']}>
          <Stats title="Decisions" stats={decisions.data.body} parts={DECISION_PARTS} names={names} />
          <Stats title="Verification" stats={verdicts.data.body} parts={VERDICT_PARTS} names={names} />
        </div>
      )}
    </>
  );
};

const NoActions = ({ window }: { readonly window: Window }) => (
  <Empty
    title="No actions in this period"
    code={`curl -sS '${location.origin}/v1/insights/decisions?window=${window}&by=rule' -H "Authorization: Bearer $ADMIN_KEY"`}
  >
    Decisions and verification results appear here after the first action. <Link href="/actions">All actions</Link>. The
    same numbers from the API:
  </Empty>
);

const useAgentNames = (isWanted: boolean): ReadonlyMap<string, string> | undefined => {
  const { data } = useQuery({ ...everyAgent, enabled: isWanted });
  return data && new Map(data.data.map(({ id, name }) => [id, name]));
};

const Stats = ({
  title,
  stats,
  parts,
  names,
}: {
  readonly title: string;
  readonly stats: Decisions | Verdicts;
  readonly parts: readonly Part[];
  readonly names: ReadonlyMap<string, string> | undefined;
}) => {
  const lines = stats.data as readonly Line[];
  return (
    <Panel title={title} aside={<Legend parts={parts} />}>
      {stats.by === 'day' ? <DayBars lines={lines} parts={parts} title={title} /> : null}
      <LinesTable
        by={stats.by}
        lines={stats.by === 'day' ? lines.filter(({ total }) => total > 0).toReversed() : lines}
        others={stats.others}
        parts={parts}
        span={stats}
        names={names}
      />
      {stats.by === 'day' && lines.some(({ total }) => total === 0) ? (
        <p className={kit['dim']}>Days without actions are not shown in the table.</p>
      ) : null}
    </Panel>
  );
};
