import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { nameIn, useMembers } from '../kernel/members.ts';
import { useMay, useOrganization } from '../kernel/session.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './shell.module.css';

type Agent = Schemas['Agent'];

const useActiveAgents = () =>
  useQuery({
    queryKey: ['stop-agents'],
    queryFn: () =>
      bodyOf(api.GET('/v1/agents', { params: { query: { status: 'active', limit: 100, 'expand[]': ['usage'] } } })),
    staleTime: 5_000,
    select: ({ data, has_more: hasMore }) => ({ agents: [...data].sort(lastActiveFirst), hasMore }),
  });

const lastActiveFirst = (one: Agent, other: Agent): number =>
  (other.usage?.last_action_at ?? '').localeCompare(one.usage?.last_action_at ?? '');

/** Two presses and no typing: one opens it, the second stops. */
export const StopDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const { data: org, error, refetch } = useOrganization(true);
  return (
    <Dialog title={org?.status === 'stopped' ? 'All agents are stopped' : 'Stop'} onClose={onClose}>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {org === undefined ? (
        error === null && <Bones count={3} />
      ) : org.status === 'stopped' ? (
        <Stopped org={org} />
      ) : (
        <StopChoices org={org} />
      )}
    </Dialog>
  );
};

const StopChoices = ({ org }: { readonly org: Schemas['Organization'] }) => {
  const may = useMay('admin');
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const { data, error, refetch } = useActiveAgents();
  const stopAll = useChange(
    (said: string, key) =>
      bodyOf(
        api.POST('/v1/org/stop', {
          params: { header: { 'Idempotency-Key': key } },
          body: said === '' ? {} : { reason: said },
        }),
      ),
    (stopped) => {
      queries.setQueryData(['org'], stopped);
      void queries.invalidateQueries({ queryKey: ['me'] });
      void queries.invalidateQueries({ queryKey: ['overview'] });
    },
  );
  const count = data === undefined ? null : data.hasMore ? `more than ${data.agents.length}` : data.agents.length;
  return (
    <>
      {may ? null : <WhoMay />}
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Bones count={3} />
      ) : data.agents.length === 0 ? (
        <p>No agent is active.</p>
      ) : (
        <ul className={styles['agents']} aria-label="Active agents, last active first" tabIndex={0}>
          {data.agents.map((agent) => (
            <StopOne key={agent.id} agent={agent} may={may} reason={reason} />
          ))}
        </ul>
      )}
      <p className={kit['dim']}>
        Stop all refuses every call of every agent from now on, on every instance. What was sent already goes on to its
        end: {org.in_flight} in flight now. Only an owner may start all agents again.
      </p>
      {stopAll.error === null ? null : <Failure error={stopAll.error} onRetry={() => stopAll.mutate(reason.trim())} />}
      <Button
        kind="stop"
        icon="octagon"
        disabled={!may || stopAll.isPending}
        onClick={() => stopAll.mutate(reason.trim())}
      >
        {stopAll.isPending ? 'Stopping …' : count === null ? 'Stop all agents now' : `Stop all ${count} agents now`}
      </Button>
      {may ? (
        <label className={kit['label']}>
          Reason, sealed in the deed (may be left out)
          <input
            className={kit['field']}
            maxLength={280}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </label>
      ) : null}
    </>
  );
};

const StopOne = ({ agent, may, reason }: { readonly agent: Agent; readonly may: boolean; readonly reason: string }) => {
  const queries = useQueryClient();
  const stop = useChange(
    (said: string, key) =>
      bodyOf(
        api.POST('/v1/agents/{id}/stop', {
          params: { path: { id: agent.id }, header: { 'Idempotency-Key': key } },
          body: said === '' ? {} : { reason: said },
        }),
      ),
    () => {
      for (const key of ['stop-agents', 'agents', 'agent', 'overview'])
        void queries.invalidateQueries({ queryKey: [key] });
    },
  );
  const last = agent.usage?.last_action_at ?? null;
  return (
    <li>
      <div>
        <Said text={agent.name} />
        <small>
          {last === null ? (
            'no action yet'
          ) : (
            <>
              last action <Time at={last} />
            </>
          )}
        </small>
        {stop.error === null ? null : <Failure error={stop.error} />}
      </div>
      <Button kind="danger" isSmall disabled={!may || stop.isPending} onClick={() => stop.mutate(reason.trim())}>
        {stop.isSuccess ? 'Stopped' : 'Stop'}
        <span className="visually-hidden"> this agent</span>
      </Button>
    </li>
  );
};

const WhoMay = () => {
  const { data: members } = useMembers();
  const names = members?.filter(({ role }) => role !== 'viewer').map(({ email, user }) => email ?? user) ?? [];
  return (
    <p className={kit['warning']}>
      Your role only reads. {names.length === 0 ? 'An admin or owner' : names.join(', ')} may stop agents.
    </p>
  );
};

const Stopped = ({ org }: { readonly org: Schemas['Organization'] }) => {
  const isOwner = useMay('owner');
  const queries = useQueryClient();
  const { data: members } = useMembers();
  const start = useChange(
    (_: null, key) => bodyOf(api.POST('/v1/org/start', { params: { header: { 'Idempotency-Key': key } }, body: {} })),
    (started) => {
      queries.setQueryData(['org'], started);
      void queries.invalidateQueries({ queryKey: ['me'] });
      void queries.invalidateQueries({ queryKey: ['overview'] });
    },
  );
  const by = org.stopped_by?.type === 'user' && org.stopped_by.id !== null ? nameIn(members, org.stopped_by.id) : null;
  return (
    <>
      <p>
        Stopped{' '}
        {org.stopped_at === null ? null : (
          <>
            since <Time at={org.stopped_at} />
          </>
        )}
        {by === null ? null : <> by {by}</>}. Every call is refused, recorded and sealed.
      </p>
      <p className={styles['flight']} role="status">
        {org.in_flight}
        <span>in flight: sent before the Stop, and not ended yet</span>
      </p>
      {start.error === null ? null : <Failure error={start.error} />}
      {isOwner ? (
        <Button icon="play" disabled={start.isPending} onClick={() => start.mutate(null)}>
          Start all agents again
        </Button>
      ) : (
        <p className={kit['dim']}>Only an owner may start all agents again.</p>
      )}
    </>
  );
};
