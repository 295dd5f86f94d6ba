import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, bodyOf } from '../kernel/client.ts';
import { StatusBadge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import type { Connector } from './types.ts';

const RECENT = 10;

/** How calls of its tools went lately: what fails stands in the first lines. */
export const RecentCalls = ({ connector }: { readonly connector: Connector }) => {
  const tool = `${connector.name}.*`;
  const { data, error, refetch } = useQuery({
    queryKey: ['connector', connector.id, 'actions'],
    queryFn: () => bodyOf(api.GET('/v1/actions', { params: { query: { tool, limit: RECENT } } })),
  });
  const failed = `/actions?tool=${encodeURIComponent(tool)}&execution=failed,unknown`;
  return (
    <Panel title="Recent calls" aside={<Link href={failed}>What failed</Link>}>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? <Bones count={4} /> : null}
      {data?.data.length === 0 ? (
        <p className={kit['dim']}>None yet. A call runs once the enforced policy allows its tool to the agent.</p>
      ) : null}
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
            <StatusBadge {...action} />
            {action.execution?.error_code === null || action.execution?.error_code === undefined ? null : (
              <code className={kit['dim']}>{action.execution.error_code}</code>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
};
