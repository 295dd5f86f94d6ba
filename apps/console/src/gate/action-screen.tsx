import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { approvalQuery } from '../approvals/queries.ts';
import type { Schemas } from '../kernel/client.ts';
import { curlOf } from '../kernel/curl.ts';
import { duration } from '../kernel/times.ts';
import { EvidenceBadge, StatusBadge } from '../kit/badges.tsx';
import { Fact, Facts } from '../kit/facts.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, CopyButton, Id, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { DeedCheck } from '../ledger/deed-check.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { ActionSteps } from './action-steps.tsx';
import { actionQuery, actionsOfSession } from './queries.ts';
import { newestAmendment, shownOf } from './shown.ts';
import { TestMark } from './test-mark.tsx';

type ActionDetail = Schemas['ActionDetail'];

/**
 * Whether the action can change without a person. Then it is polled, so that the page follows even without an event
 * stream.
 */
const isUnderWay = (action: ActionDetail | undefined): boolean =>
  action !== undefined && action.state !== 'sealed' && action.state !== 'pending_approval';

export const ActionScreen = ({ id }: { readonly id: string }) => {
  const {
    data: action,
    error,
    refetch,
  } = useQuery({
    ...actionQuery(id),
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? 2_000 : false),
  });
  const asked = action?.approval?.id ?? null;
  const approval = useQuery({ ...approvalQuery(asked ?? ''), enabled: asked !== null });
  if (action === undefined) {
    return (
      <>
        <ScreenHead title="Action" />
        {error === null ? <Bones /> : <Failure error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  return (
    <>
      <ScreenHead
        title={action.tool}
        name={
          <code>
            <Said text={action.tool} />
          </code>
        }
        badges={
          <>
            <StatusBadge status={action.status} execution={action.execution} />
            <TestMark livemode={action.livemode} />
            {action.witness === null ? null : <EvidenceBadge witness={action.witness} />}
          </>
        }
      />
      <p className={kit['meta']}>
        <Link href={`/agents/${action.agent.id}`}>
          <Said text={action.agent.name} />
        </Link>{' '}
        submitted this call <Time at={action.created_at} isExact /> <Id id={action.id} />
      </p>
      <div className={kit['columns']}>
        <ActionSteps action={action} people={approval.data ?? null} />
        <div className={kit['stack']}>
          {action.deed === null ? null : (
            <DeedCheck
              id={action.deed}
              amendment={newestAmendment(action)}
              shown={shownOf(id, action, approval.data ?? null)}
            />
          )}
          <ActionFacts action={action} />
          <SameSession action={action} />
        </div>
      </div>
    </>
  );
};

const ActionFacts = ({ action }: { readonly action: ActionDetail }) => {
  const { request } = action;
  const args = request !== null && 'args' in request ? request.args : null;
  return (
    <Panel title="Facts">
      <Facts>
        <Fact name="On behalf of">
          {action.on_behalf_of === null ? (
            'not stated'
          ) : (
            <Link href={`/actions?on_behalf_of=${encodeURIComponent(action.on_behalf_of)}`}>
              <Said text={action.on_behalf_of} />
            </Link>
          )}
        </Fact>
        <Fact name="Key">
          <Link href={`/actions?key=${action.key.prefix ?? action.key.id}`}>
            <code>{action.key.prefix ?? action.key.id}</code>
          </Link>{' '}
          {action.livemode ? 'live' : 'test: only a mark, the tool runs all the same'}
        </Fact>
        <Fact name="Mode">{action.mode === 'proxy' ? 'proxy: run by the agent' : 'gateway: run by the service'}</Fact>
        <Fact name="State">{action.state}</Fact>
        {action.execution?.latency_ms === null || action.execution?.latency_ms === undefined ? null : (
          <Fact name="Duration">{duration(action.execution.latency_ms)}</Fact>
        )}
        <Fact name="Request digest">
          <Id id={action.request_digest} />
        </Fact>
        {action.deeds.map((deed) => (
          <Fact key={deed.id} name={deed.kind === 'action' ? 'Deed' : 'Amendment'}>
            <Link href={`/deeds/${deed.id}`}>#{deed.seq}</Link> <Id id={deed.id} />
          </Fact>
        ))}
      </Facts>
      {args === null ? null : (
        <p className={kit['foot']}>
          <CopyButton text={curlOf(location.origin, { tool: action.tool, args, mode: action.mode })}>
            Copy as curl
          </CopyButton>
        </p>
      )}
    </Panel>
  );
};

const SESSION_MAX = 8;

/** Other actions of the session that the agent named. */
const SameSession = ({ action }: { readonly action: ActionDetail }) => {
  const { session } = action;
  const { data } = useQuery({
    ...actionsOfSession(session ?? '', SESSION_MAX + 1),
    enabled: session !== null,
  });
  const others = data?.data.filter(({ id }) => id !== action.id).slice(0, SESSION_MAX) ?? [];
  if (session === null) return null;
  return (
    <Panel
      title="Same session"
      aside={<Link href={`/actions?session=${encodeURIComponent(session)}`}>All actions</Link>}
    >
      {others.length === 0 ? (
        <p className={kit['dim']}>No other actions.</p>
      ) : (
        <ul className={kit['stack']}>
          {others.map((other) => (
            <li key={other.id}>
              <Link href={`/actions/${other.id}`}>
                <code>
                  <Said text={other.tool} />
                </code>
              </Link>{' '}
              <StatusBadge status={other.status} execution={other.execution} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
};
