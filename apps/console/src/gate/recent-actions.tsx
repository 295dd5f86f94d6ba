import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { StatusBadge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { recentActions } from './queries.ts';
import { TestMark } from './test-mark.tsx';

const RECENT = 10;

/** The newest calls of an agent, or of a connector's tools, so that failing calls are visible at once. */
export const RecentActions = ({
  title,
  of,
  filter,
  more,
  none,
}: {
  readonly title: string;
  /** What the calls are of: whatever makes that context stale makes this list stale, too. */
  readonly of: 'agents' | 'connectors';
  readonly filter: { readonly agent: string } | { readonly tool: string };
  /** The link to all calls, in the list of actions. */
  readonly more: { readonly to: string; readonly words: string };
  /** Shown if there are no calls. */
  readonly none: string;
}) => {
  const { data, error, refetch } = useQuery(recentActions(of, filter, RECENT));
  return (
    <Panel title={title} aside={<Link href={more.to}>{more.words}</Link>}>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? <Bones count={5} /> : null}
      {data?.data.length === 0 ? <p className={kit['dim']}>{none}</p> : null}
      <ul className={kit['rows']}>
        {data?.data.map((action) => (
          <li key={action.id}>
            <small>
              <Time at={action.created_at} />
            </small>
            <Link href={`/actions/${action.id}`}>
              <code>
                <Said text={action.tool} />
              </code>
            </Link>
            <TestMark livemode={action.livemode} />
            <StatusBadge status={action.status} execution={action.execution} />
            {action.execution?.error_code === null || action.execution?.error_code === undefined ? null : (
              <code className={kit['dim']}>{action.execution.error_code}</code>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
};
