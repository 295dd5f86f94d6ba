import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { shadowDifferences } from '../gate/queries.ts';
import type { Schemas } from '../kernel/client.ts';
import { Failure } from '../kit/failure.tsx';
import { Bones, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { OutcomeChange } from './outcome.tsx';
import styles from './policies.module.css';
import { useSlots } from './queries.ts';

const SHOWN = 10;

/** The newest calls that the version in shadow would have decided differently. */
export const ShadowDiffers = () => {
  const { data: slots } = useSlots();
  const shadow = slots?.shadow ?? null;
  return shadow === null ? null : <Differing since={shadow.since} version={shadow.version} />;
};

const Differing = ({ since, version }: { readonly since: string; readonly version: number }) => {
  const { data, error, refetch } = useQuery({
    ...shadowDifferences(since, SHOWN),
    select: ({ data: actions, has_more: hasMore }) => ({ actions, hasMore }),
  });
  const all = `/actions?shadow_differs=true&created_at[gte]=${encodeURIComponent(since)}`;
  return (
    <Panel title="Shadow differences" aside={<Link href={all}>View all</Link>}>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? <Bones count={3} /> : null}
      {data?.actions.length === 0 ? (
        <p className={kit['dim']}>
          No differences since <Time at={since} />: version {version} would have decided every call the same way.
        </p>
      ) : null}
      <ul className={styles['samples']}>
        {data?.actions.map((action) => (
          <Difference key={action.id} action={action} />
        ))}
      </ul>
    </Panel>
  );
};

const Difference = ({ action }: { readonly action: Schemas['Action'] }) => {
  const { decision } = action;
  const shadow = decision?.shadow ?? null;
  return (
    <li>
      <Link href={`/actions/${action.id}`} data-row>
        <code>
          <Said text={action.tool} />
        </code>
      </Link>
      <small>
        <Said text={action.agent.name} />, <Time at={action.created_at} />
      </small>
      {decision === null || shadow === null || shadow.outcome === null ? null : (
        <OutcomeChange from={decision.outcome} to={shadow.outcome} />
      )}
      {shadow === null ? null : (
        <small>
          by{' '}
          {shadow.rule_id === null ? (
            'the default'
          ) : (
            <>
              rule <code>{shadow.rule_id}</code>
            </>
          )}
        </small>
      )}
    </li>
  );
};
