import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Icon, type IconName } from '../design/icon.tsx';
import type { Schemas } from '../kernel/client.ts';
import { duration } from '../kernel/times.ts';
import { Arguments } from '../kit/arguments.tsx';
import { ApprovalBadge, EvidenceBadge } from '../kit/badges.tsx';
import { Id, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './gate.module.css';
import { isRemoved } from './shown.ts';

type ActionDetail = Schemas['ActionDetail'];
type Tone = 'plain' | 'ok' | 'warn' | 'bad';

const Step = ({
  icon,
  tone = 'plain',
  title,
  badge,
  after,
  children,
}: {
  readonly icon: IconName;
  readonly tone?: Tone;
  readonly title: string;
  readonly badge?: ReactNode;
  /** When, as the way from the submission. */
  readonly after: ReactNode;
  readonly children?: ReactNode;
}) => (
  <li className={styles['step']}>
    <span className={styles['stepIcon']} data-tone={tone}>
      <Icon name={icon} size={15} />
    </span>
    <div className={styles['stepHead']}>
      <h2>{title}</h2>
      {badge}
      <span className={kit['number']}>{after}</span>
    </div>
    <div className={styles['stepBody']}>{children}</div>
  </li>
);

/** From the submission to the seal, each step by what it rests on. */
export const ActionSteps = ({ action }: { readonly action: ActionDetail }) => {
  const after = (type: RegExp): ReactNode => {
    const event = action.events.find((each) => type.test(each.type));
    return event === undefined ? '' : `+${duration(Date.parse(event.at) - Date.parse(action.created_at))}`;
  };
  const { decision, execution, witness, approval } = action;
  return (
    <ol className={styles['steps']}>
      <Step icon="send" title="Submitted" after={<Time at={action.created_at} />}>
        <Request request={action.request} />
      </Step>
      {decision === null ? null : <DecisionStep decision={decision} after={after(/Decided$/)} />}
      {approval === null ? null : (
        <Step
          icon="people"
          title="A person is asked"
          badge={<ApprovalBadge status={approval.status} />}
          tone={approval.status === 'approved' ? 'ok' : 'plain'}
          after={after(/^Approval(Decided|Expired)$/)}
        >
          <p>
            <Link href={`/approvals/${approval.id}`}>The approval</Link> <Id id={approval.id} />
          </p>
        </Step>
      )}
      {execution === null ? null : (
        <ExecutionStep action={action} after={after(/^(Execution|Edge)(Finished|Reported|Lost)$/)} />
      )}
      {witness === null ? null : (
        <Step
          icon="eye"
          title="Witnessed"
          badge={<EvidenceBadge witness={witness} />}
          tone={witness.verdict === 'MISMATCH' ? 'bad' : witness.verdict === 'UNVERIFIABLE' ? 'warn' : 'plain'}
          after={after(/Witnessed$/)}
        >
          <p>
            <Said text={witness.summary} />
          </p>
          <WitnessDetail detail={witness.detail} />
        </Step>
      )}
      <Step icon="stamp" title={action.deed === null ? 'Not sealed yet' : 'Sealed'} after="">
        {action.deed === null ? (
          <p>
            {action.state === 'pending_approval' ? 'It is sealed when it is over.' : 'It is sealed within moments.'}
          </p>
        ) : (
          <p>
            <Link href={`/deeds/${action.deed}`}>The deed</Link> <Id id={action.deed} />
          </p>
        )}
      </Step>
    </ol>
  );
};

const Removed = () => <p>Removed, since the days that bodies are kept for are over. The deed holds its digest.</p>;

const Request = ({ request }: { readonly request: ActionDetail['request'] }) => {
  if (request === null) return <p>The request is lost. An audit names it.</p>;
  if (isRemoved(request)) return <Removed />;
  return <Arguments args={request.args ?? {}} empty="No arguments." />;
};

const OUTCOMES = { allow: 'Allowed', deny: 'Denied', require_approval: 'A person must approve' } as const;

const DecisionStep = ({
  decision,
  after,
}: {
  readonly decision: NonNullable<ActionDetail['decision']>;
  readonly after: ReactNode;
}) => {
  const { outcome, rule_id: rule, policy, policy_version: version, shadow } = decision;
  return (
    <Step icon="gavel" tone={outcome === 'allow' ? 'ok' : 'plain'} title={OUTCOMES[outcome]} after={after}>
      <p>
        {rule === null ? `By ${decision.source === 'default' ? 'the policy’s default' : decision.source}` : null}
        {rule === null ? null : (
          <>
            Rule <code>{rule}</code>
          </>
        )}
        {version === null ? null : (
          <>
            {' '}
            of{' '}
            {policy === null ? null : (
              <Link href={`/policies/${policy}?version=${version}`}>this version of the policy</Link>
            )}{' '}
            <Id id={version} />
          </>
        )}
      </p>
      {decision.rule?.description === null || decision.rule?.description === undefined ? null : (
        <p>
          <Said text={decision.rule.description} />
        </p>
      )}
      {decision.message === null ? null : (
        <p>
          The agent was told: <Said text={decision.message} />
        </p>
      )}
      {shadow?.differs === true ? (
        <p className={kit['warning']}>
          The version in shadow would have said: {shadow.outcome === null ? 'nothing' : OUTCOMES[shadow.outcome]}
          {shadow.rule_id === null ? '' : `, by rule ${shadow.rule_id}`}.
        </p>
      ) : null}
    </Step>
  );
};

const EXECUTIONS = {
  succeeded: ['Executed', 'ok', 'play'],
  failed: ['Failed', 'bad', 'crossCircle'],
  unknown: ['Unknown', 'warn', 'question'],
} as const satisfies Record<string, readonly [string, Tone, IconName]>;

const ExecutionStep = ({ action, after }: { readonly action: ActionDetail; readonly after: ReactNode }) => {
  const { execution, sent, redactions, result } = action;
  if (execution === null) return null;
  const [title, tone, icon] = EXECUTIONS[execution.status];
  return (
    <Step icon={icon} tone={tone} title={title} after={after}>
      <p>
        {execution.attempts === 0
          ? 'Run by the agent at the edge'
          : execution.attempts === 1
            ? 'Sent once'
            : `Tried ${execution.attempts} times`}
        {execution.latency_ms === null ? '.' : `, took ${duration(execution.latency_ms)}.`}
      </p>
      {sent === null ? null : (
        <p>
          <code>
            <Said text={`${sent.method ?? ''} ${sent.host ?? ''}${sent.path ?? ''}`} />
          </code>
        </p>
      )}
      {execution.error_code === null ? null : (
        <p>
          <code>{execution.error_code}</code> <Said text={execution.error_message ?? ''} />
        </p>
      )}
      <Result result={result} />
      {redactions.length === 0 ? null : (
        <p>
          Redacted before anybody held it:{' '}
          {redactions.map((path) => (
            <code key={path}>{path} </code>
          ))}
        </p>
      )}
    </Step>
  );
};

const Result = ({ result }: { readonly result: unknown }) => {
  if (result === null || result === undefined) return null;
  if (typeof result !== 'object' || Array.isArray(result)) return <Arguments args={{ result }} />;
  if (isRemoved(result)) return <Removed />;
  return <Arguments args={result as Readonly<Record<string, unknown>>} empty="The tool answered with nothing." />;
};

const WitnessDetail = ({ detail }: { readonly detail: NonNullable<ActionDetail['witness']>['detail'] }) => {
  if (detail === null) return null;
  if (isRemoved(detail)) return <Removed />;
  return <Compared evidence={detail} />;
};

const Compared = ({ evidence }: { readonly evidence: Schemas['ReadBackEvidence'] }) => {
  const expected = evidence.expected as Readonly<Record<string, unknown>>;
  const observed = evidence.observed as Readonly<Record<string, unknown>>;
  const show = (value: unknown): ReactNode =>
    value === undefined ? <em>not there</em> : <Said text={JSON.stringify(value)} isMultiline />;
  return (
    <table className={styles['compare']}>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Expected</th>
          <th scope="col">Observed</th>
        </tr>
      </thead>
      <tbody>
        {Object.keys(expected).map((path) => (
          <tr key={path} data-differs={evidence.differs.includes(path) ? '' : undefined}>
            <th scope="row">
              <code>
                <Said text={path} />
              </code>
            </th>
            <td>
              <code>{show(expected[path])}</code>
            </td>
            <td>
              <code>{show(observed[path])}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};
