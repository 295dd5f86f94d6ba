import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { activeAgents } from '../agents/queries.ts';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { REASON_TEXT_MAX_LENGTH } from '../kernel/contract.ts';
import { useMembers, useNames } from '../kernel/members.ts';
import { useChanged } from '../kernel/refresh.ts';
import { isAtLeast } from '../kernel/roles.ts';
import { useMay, useOrganization } from '../kernel/session.tsx';
import { Dialog, DialogFoot } from '../kit/dialog.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { useOrgMove } from './org-move.ts';
import { RunsAgain, Stopped } from './stopped.tsx';
import styles from './shell.module.css';

type Agent = Schemas['Agent'];

const useActiveAgents = () => useQuery({ ...activeAgents, select: ({ data }) => [...data].sort(lastActiveFirst) });

/**
 * The listed agents in a stable order, so that no button moves under a finger: while the dialog is open, agents keep
 * their rows, and new ones are added below.
 */
const useListed = (active: readonly Agent[] | undefined): readonly Agent[] => {
  const [listed, setListed] = useState<readonly Agent[]>([]);
  useEffect(() => {
    setListed((known) => {
      const more = active?.filter(({ id }) => known.every((one) => one.id !== id)) ?? [];
      return more.length === 0 ? known : [...known, ...more];
    });
  }, [active]);
  return listed;
};

const lastActiveFirst = (one: Agent, other: Agent): number =>
  (other.usage?.last_action_at ?? '').localeCompare(one.usage?.last_action_at ?? '');

type Organization = Schemas['Organization'];

/**
 * When agents were found to run again after a stop, whoever started them; null if they were not stopped since the
 * dialog opened, or still are.
 */
const useRunsSince = (org: Organization | undefined): string | null => {
  const [wasStopped, setWasStopped] = useState(false);
  const [since, setSince] = useState<string | null>(null);
  const status = org?.status;
  useEffect(() => {
    if (status === 'stopped') {
      setWasStopped(true);
      setSince(null);
    } else if (status === 'active' && wasStopped) setSince((known) => known ?? new Date(serverNow()).toISOString());
  }, [status, wasStopped]);
  return since;
};

/**
 * Opens by one press and stops by the next, without typing. If all agents are stopped already, it offers to start them
 * instead.
 */
export const StopDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const { data: org, error, refetch, dataUpdatedAt } = useOrganization(true);
  const since = useRunsSince(org);
  const title =
    org?.status === 'stopped' ? 'All agents are stopped' : since === null ? 'Stop' : 'All agents are started again';
  return (
    <Dialog title={title} onClose={onClose}>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {error === null || org === undefined ? null : (
        <p className={kit['warning']}>
          This information is from <Time at={new Date(dataUpdatedAt).toISOString()} isExact /> and may be out of date.
        </p>
      )}
      {org === undefined ? (
        error === null && <Bones count={3} />
      ) : org.status === 'stopped' ? (
        <Stopped org={org} onClose={onClose} />
      ) : since === null ? (
        <StopChoices org={org} onClose={onClose} />
      ) : (
        <RunsAgain since={since} onClose={onClose} />
      )}
    </Dialog>
  );
};

const StopChoices = ({ org, onClose }: { readonly org: Organization; readonly onClose: () => void }) => {
  const may = useMay('admin');
  const [reason, setReason] = useState('');
  const { data, error, refetch, dataUpdatedAt } = useActiveAgents();
  const listed = useListed(data);
  const stopAll = useOrgMove('stop');
  const count = data?.length ?? null;
  return (
    <>
      {may ? null : <WhoMay />}
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Bones count={3} />
      ) : data.length + listed.length === 0 ? (
        <p>No active agents.</p>
      ) : (
        <AgentsToStop listed={listed} active={data} readAtMs={dataUpdatedAt} may={may} reason={reason} />
      )}
      <p className={kit['dim']}>
        Stopping all agents denies every call of every agent from now on, on every instance. Calls already sent run to
        their end ({org.in_flight} in flight now). Only an owner can start all agents again.
      </p>
      {may ? (
        <label className={kit['label']}>
          Reason, sealed in the deed (optional)
          <input
            className={kit['field']}
            maxLength={REASON_TEXT_MAX_LENGTH}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </label>
      ) : null}
      {stopAll.error === null ? null : <Failure error={stopAll.error} onRetry={() => stopAll.mutate(reason.trim())} />}
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="stop"
          icon="octagon"
          disabled={!may || stopAll.isPending}
          onClick={() => stopAll.mutate(reason.trim())}
        >
          {stopAll.isPending ? 'Stopping …' : wordsOf(count)}
        </Button>
      </DialogFoot>
    </>
  );
};

/** @param count the number of active agents; null if it is not known */
const wordsOf = (count: number | null): string =>
  count === null || count === 0 || count === 1 ? 'Stop all agents now' : `Stop all ${count} agents now`;

interface Stopping {
  /** When the list of active agents was read. */
  readonly readAtMs: number;
  readonly may: boolean;
  readonly reason: string;
}

/** Up to this many agents are listed without a search field. */
const SEEN_AT_A_GLANCE = 10;

const AgentsToStop = ({
  listed,
  active,
  ...stopping
}: Stopping & { readonly listed: readonly Agent[]; readonly active: readonly Agent[] }) => {
  const [text, setText] = useState('');
  const activeIds = new Set(active.map(({ id }) => id));
  const wanted = text.trim().toLowerCase();
  const found = listed.filter(({ name, id }) => name.toLowerCase().includes(wanted) || id.includes(wanted));
  return (
    <>
      {listed.length > SEEN_AT_A_GLANCE ? (
        <input
          type="search"
          className={kit['field']}
          aria-label="Find an agent by its name or id"
          placeholder="Find an agent by its name or id"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      ) : null}
      {found.length === 0 ? (
        <p role="status">No active agent has this in its name or id.</p>
      ) : (
        <ul className={styles['agents']} aria-label="Active agents, most recently active first" tabIndex={0}>
          {found.map((agent) => (
            <StopOne key={agent.id} agent={agent} isActive={activeIds.has(agent.id)} {...stopping} />
          ))}
        </ul>
      )}
    </>
  );
};

interface StopOneProps extends Stopping {
  readonly agent: Agent;
  /** Whether the agent is in the list of active agents, as of `readAtMs`. */
  readonly isActive: boolean;
}

const StopOne = ({ agent, isActive, readAtMs, may, reason }: StopOneProps) => {
  const changed = useChanged();
  const answeredAtMs = useRef(0);
  const stop = useChange(
    (said: string, key) =>
      bodyOf(
        api.POST('/v1/agents/{id}/stop', {
          params: { path: { id: agent.id }, header: { 'Idempotency-Key': key } },
          body: said === '' ? {} : { reason: said },
        }),
      ),
    () => {
      answeredAtMs.current = Date.now();
      changed(['agents', 'overview']);
    },
  );
  const last = agent.usage?.last_action_at ?? null;
  // The latest of two statements counts: the answer to this Stop, or a list that was read after that answer.
  const isStopped = stop.data?.status === 'stopped' && (!isActive || readAtMs <= answeredAtMs.current);
  const acts = isActive && !isStopped;
  return (
    <li>
      <div>
        <Said text={agent.name} />
        <small>
          {last === null ? (
            'no actions yet'
          ) : (
            <>
              last action <Time at={last} />
            </>
          )}
        </small>
        {stop.error === null ? null : <Failure error={stop.error} />}
      </div>
      <Button
        kind="danger"
        isSmall
        disabled={!may || stop.isPending || !acts}
        onClick={() => stop.mutate(reason.trim())}
      >
        {acts ? 'Stop' : isStopped ? 'Stopped' : 'Not active'}
        <span className="visually-hidden"> this agent</span>
      </Button>
    </li>
  );
};

const WhoMay = () => {
  const { data: members } = useMembers();
  const nameOf = useNames();
  const names = members?.filter(({ role }) => isAtLeast(role, 'admin')).map(({ user }) => nameOf(user)) ?? [];
  return (
    <p className={kit['warning']}>
      Your role is read-only. {names.length === 0 ? 'An admin or owner' : names.join(', ')} can stop agents.
    </p>
  );
};
