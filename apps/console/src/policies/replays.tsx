import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { useList } from '../kernel/lists.ts';
import { useChanged } from '../kernel/refresh.ts';
import { useMay, useSession } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './policies.module.css';
import { isUnderWay, ReplayRow } from './replay-row.tsx';
import { replaysQuery, versionPages } from './queries.ts';

type Policy = Schemas['Policy'];

const DAY_MS = 86_400_000;
const PROGRESS_EVERY_MS = 1_000;
const SHOWN = 10;

const useReplays = (policy: string) =>
  useQuery({
    ...replaysQuery(policy, SHOWN),
    refetchInterval: ({ state }) => (state.data?.data.some(isUnderWay) === true ? PROGRESS_EVERY_MS : false),
    select: ({ data }) => data,
  });

/**
 * The replays of this policy: a saved version judges all recorded calls of a window. A replay goes on after the page is
 * closed.
 */
export const Replays = ({ policy, onRule }: { readonly policy: Policy; readonly onRule: (id: string) => void }) => {
  const may = useMay('admin');
  const { data: replays, error, refetch } = useReplays(policy.id);
  return (
    <>
      <div className={styles['toolHead']}>
        <h2>Replays</h2>
      </div>
      <p className={kit['dim']}>
        Evaluates a saved version against every recorded call of a time range. Nothing is run or decided.
      </p>
      {may ? <StartForm policy={policy} /> : null}
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {replays === undefined && error === null ? <Bones count={3} /> : null}
      {replays?.length === 0 ? (
        <p className={styles['waits']}>
          No replays yet.{' '}
          {may
            ? 'Start one to see which calls the version would have denied or allowed.'
            : 'An admin or owner can start one.'}
        </p>
      ) : null}
      <ul className={styles['replays']}>
        {replays?.map((replay) => (
          <ReplayRow key={replay.id} replay={replay} onRule={onRule} />
        ))}
      </ul>
    </>
  );
};

const WINDOWS: readonly (readonly [days: number, word: string])[] = [
  [1, '24 hours'],
  [7, '7 days'],
  [14, '14 days'],
  [30, '30 days'],
  [90, '90 days'],
];

const useStart = (policy: string) => {
  const changed = useChanged();
  return useChange(
    ({ version, from, to }: { readonly version: string; readonly from: string; readonly to: string | null }, key) =>
      bodyOf(
        api.POST('/v1/policies/{id}/versions/{v}/replay', {
          params: { path: { id: policy, v: version }, header: { 'Idempotency-Key': key } },
          body: { from, ...(to === null ? {} : { to }) },
        }),
      ),
    () => changed(['replays']),
  );
};

const StartForm = ({ policy }: { readonly policy: Policy }) => {
  const { times } = useSession();
  const { rows: versions, hasNextPage, fetchNextPage } = useList(versionPages(policy.id));
  const at = (days: number): string => times.local(new Date(serverNow() - days * DAY_MS).toISOString());
  const [version, setVersion] = useState(policy.latest_version.id);
  const [from, setFrom] = useState(() => at(14));
  const [to, setTo] = useState('');
  const start = useStart(policy.id);
  const isWindow =
    start.error instanceof ApiError && ['replay_window_invalid', 'replay_too_large'].includes(start.error.code);
  const begin = times.instantOf(from);
  const ask = (): void => {
    if (begin !== null) start.mutate({ version, from: begin, to: to === '' ? null : times.instantOf(to) });
  };
  return (
    <form
      className={styles['stack']}
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <label className={kit['label']}>
        Version
        <select className={kit['field']} value={version} onChange={({ target }) => setVersion(target.value)}>
          {versions.length === 0 ? <option value={version}>{policy.latest_version.version}</option> : null}
          {versions.map(({ id, version: number, activation }) => (
            <option key={id} value={id}>
              {number}
              {activation === null ? '' : activation === 'enforce' ? ', enforced' : ', in shadow'}
            </option>
          ))}
        </select>
      </label>
      {hasNextPage ? (
        <Button isSmall onClick={() => void fetchNextPage()}>
          Show older versions
        </Button>
      ) : null}
      <div className={styles['presets']} role="group" aria-label="Time range">
        {WINDOWS.map(([days, word]) => (
          <Button
            key={days}
            isSmall
            onClick={() => {
              setFrom(at(days));
              setTo('');
            }}
          >
            {word}
          </Button>
        ))}
      </div>
      <div className={styles['narrow']}>
        <LocalTime label="From" value={from} isBad={isWindow || begin === null} onChange={setFrom} />
        <LocalTime label="To (optional; default: now)" value={to} isBad={isWindow} onChange={setTo} />
      </div>
      <p className={kit['dim']}>Times in {times.zoneName(serverNow())}. At most 90 days and 1,000,000 calls.</p>
      {start.error === null ? null : <Failure error={start.error} />}
      <div className={styles['buttons']}>
        <Button type="submit" kind="primary" disabled={start.isPending || begin === null}>
          {start.isPending ? 'Starting …' : 'Start replay'}
        </Button>
      </div>
    </form>
  );
};

const LocalTime = ({
  label,
  value,
  isBad,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly isBad: boolean;
  readonly onChange: (local: string) => void;
}) => (
  <label className={kit['label']}>
    {label}
    <input
      type="datetime-local"
      className={kit['field']}
      aria-invalid={isBad}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
);
