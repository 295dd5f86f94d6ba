import { Link } from 'wouter';
import { Icon } from '../design/icon.tsx';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useChanged } from '../kernel/refresh.ts';
import { shortId } from '../kernel/said.ts';
import { useMay } from '../kernel/session.tsx';
import { Badge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Button, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { counted, OutcomeChange, Rule } from './outcome.tsx';
import styles from './policies.module.css';
import { Who } from '../kit/who.tsx';

type Replay = Schemas['Replay'];
type Result = Schemas['ReplayResult'];

const STATUSES = {
  queued: ['quiet', 'clock', 'Queued'],
  running: ['accent', 'spinner', 'Running'],
  succeeded: ['ok', 'checkCircle', 'Done'],
  failed: ['bad', 'crossCircle', 'Failed'],
  cancelled: ['quiet', 'ban', 'Cancelled'],
} as const;

const FAILURES: Readonly<Record<string, string>> = {
  policy_unavailable:
    'This policy version no longer compiles in this version of the service. Save it as a new version.',
  internal_error: 'The replay failed five times. Start it again; if it fails again, tell the operator.',
};

export const isUnderWay = ({ status }: Replay): boolean => status === 'queued' || status === 'running';

export const ReplayRow = ({ replay, onRule }: { readonly replay: Replay; readonly onRule: (id: string) => void }) => {
  const [tone, icon, word] = STATUSES[replay.status];
  const goesOn = isUnderWay(replay);
  const { done, total } = replay.progress;
  return (
    <li>
      <div className={styles['replayHead']}>
        <strong>Version {replay.version}</strong>
        <Badge tone={tone} icon={icon}>
          {word}
        </Badge>
        {goesOn ? <Cancel replay={replay} /> : null}
      </div>
      <p className={kit['dim']}>
        <Time at={replay.from} isExact /> to <Time at={replay.to} isExact />, started by{' '}
        <Who actor={replay.requested_by} /> <Time at={replay.created_at} />
      </p>
      {goesOn ? (
        <label className={styles['progress']}>
          <progress max={Math.max(1, total)} value={done} />
          <span className={kit['number']}>
            {done.toLocaleString('en-US')} of {counted(total, 'call')}
          </span>
        </label>
      ) : null}
      {replay.error_code === null ? null : (
        <p>
          {FAILURES[replay.error_code] ?? 'The replay failed.'} <code>{replay.error_code}</code>
        </p>
      )}
      {replay.result === null ? null : <Found replay={replay} result={replay.result} onRule={onRule} />}
    </li>
  );
};

const Cancel = ({ replay }: { readonly replay: Replay }) => {
  const may = useMay('admin');
  const changed = useChanged();
  const cancel = useChange(
    (_: null, key) =>
      bodyOf(
        api.POST('/v1/replays/{id}/cancel', {
          params: { path: { id: replay.id }, header: { 'Idempotency-Key': key } },
        }),
      ),
    () => changed(['replays']),
  );
  if (!may) return null;
  return (
    <>
      <Button isSmall disabled={cancel.isPending} onClick={() => cancel.mutate(null)}>
        Cancel
        <span className="visually-hidden"> this replay</span>
      </Button>
      {cancel.error === null ? null : <Failure error={cancel.error} />}
    </>
  );
};

const SKIPPED = {
  not_asked: 'decided without a policy (Stop, unknown tool or budget)',
  payload_removed: 'the arguments were removed at the end of the retention period',
  payload_damaged: 'the stored input does not match its digest: run an audit',
  time_limit: 'the evaluation takes too long; enforced, such a version denies these calls',
} as const;

const Found = ({
  replay: { compared_with: compared },
  result,
  onRule,
}: {
  readonly replay: Replay;
  readonly result: Result;
  readonly onRule: (id: string) => void;
}) => {
  const changed = result.changes.reduce((sum, { count }) => sum + count, 0);
  return (
    <details className={styles['found']}>
      <summary>
        {counted(result.judged, 'call')} evaluated,{' '}
        <strong>{changed.toLocaleString('en-US')} decided differently</strong>
        {result.allows_denied_by_person === 0 ? null : (
          <span className={styles['danger']}>
            {' '}
            <Icon name="triangle" size={14} /> {result.allows_denied_by_person.toLocaleString('en-US')} denied by a
            person would be allowed
          </span>
        )}
      </summary>
      <p>
        Compared with{' '}
        {compared.basis === 'recorded'
          ? 'what was decided at the time'
          : `what version ${compared.version}, enforced when the replay was started, decides of the same calls`}
        .
      </p>
      {result.allows_never_asked === 0 ? null : (
        <p>
          {counted(result.allows_never_asked, 'call')} without an approval that{' '}
          {result.allows_never_asked === 1 ? 'was' : 'were'} denied would be allowed without approval.
        </p>
      )}
      <ul className={styles['changes']}>
        {result.changes.map((change) => (
          <li key={`${change.from} ${change.to} ${change.rule_id ?? ''} ${change.source}`}>
            <div>
              <OutcomeChange from={change.from} to={change.to} />
              <strong className={kit['number']}>{change.count.toLocaleString('en-US')}</strong>
            </div>
            <p>
              by <Rule id={change.rule_id} onRule={onRule} />
              {change.source === 'builtin' ? ', whose condition cannot be evaluated' : ''}; oldest:{' '}
              {change.sample.map((action) => (
                <Link key={action} href={`/actions/${action}`}>
                  <code>{shortId(action)}</code>{' '}
                </Link>
              ))}
            </p>
          </li>
        ))}
      </ul>
      {(Object.keys(SKIPPED) as (keyof typeof SKIPPED)[])
        .filter((why) => result.skipped[why] > 0)
        .map((why) => (
          <p key={why} className={kit['dim']}>
            {result.skipped[why].toLocaleString('en-US')} not evaluated: {SKIPPED[why]}
          </p>
        ))}
      <Tallies result={result} />
    </details>
  );
};

const Tallies = ({ result: { by_rule: rules, by_tool: tools } }: { readonly result: Result }) => (
  <>
    <Tally title="By rule" rows={rules.map((row) => [row.rule_id ?? 'the default', row])} />
    <Tally title="By tool" rows={tools.map((row) => [row.tool ?? 'all other tools', row])} />
  </>
);

const Tally = ({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly (readonly [string, Schemas['ReplayTally']])[];
}) => (
  <table className={styles['tally']}>
    <caption>{title}</caption>
    <thead>
      <tr>
        <th scope="col">{title.replace('By ', '')}</th>
        <th scope="col">allow</th>
        <th scope="col">require approval</th>
        <th scope="col">deny</th>
        <th scope="col">changed</th>
      </tr>
    </thead>
    <tbody>
      {rows.map(([name, tally], index) => (
        <tr key={`${index} ${name}`}>
          <th scope="row">
            <Said text={name} />
          </th>
          <td>{tally.allow.toLocaleString('en-US')}</td>
          <td>{tally.require_approval.toLocaleString('en-US')}</td>
          <td>{tally.deny.toLocaleString('en-US')}</td>
          <td>{tally.changed.toLocaleString('en-US')}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
