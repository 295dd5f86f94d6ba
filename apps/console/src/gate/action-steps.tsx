import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { IconName } from '../design/icon.tsx';
import type { Schemas } from '../kernel/client.ts';
import { ErrorCode } from '../kernel/documentation.tsx';
import { duration } from '../kernel/times.ts';
import { Arguments } from '../kit/arguments.tsx';
import { Id, Said, Time } from '../kit/kit.tsx';
import { deedEvidence } from '../ledger/queries.ts';
import { DecisionStep } from './decision-step.tsx';
import styles from './gate.module.css';
import { PeopleStep } from './people-step.tsx';
import { isRemoved } from './shown.ts';
import { Step, type Tone } from './step.tsx';
import { AwaitedWitness, Removed, WitnessStep } from './witness-step.tsx';

type ActionDetail = Schemas['ActionDetail'];
/** The steps of an action from submission to seal, each with its evidence. */
export const ActionSteps = ({
  action,
  people,
}: {
  readonly action: ActionDetail;
  /** The approval; null while it is loading, and if nobody was asked. */
  readonly people: Schemas['Approval'] | null;
}) => {
  const after = (type: RegExp): ReactNode => {
    const event = action.events.find((each) => type.test(each.type));
    return event === undefined ? '' : `+${duration(Date.parse(event.at) - Date.parse(action.created_at))}`;
  };
  const { decision, execution, witness, approval } = action;
  return (
    <ol className={styles['steps']}>
      <Step icon="send" title="Submitted" after={<Time at={action.created_at} />}>
        <Request request={action.request} amounts={action.amounts} />
      </Step>
      {decision === null ? null : <DecisionStep action={action} decision={decision} after={after(/Decided$/)} />}
      {approval === null ? null : (
        <PeopleStep asked={approval} approval={people} after={after(/^Approval(Decided|Expired)$/)} />
      )}
      {execution === null ? null : (
        <ExecutionStep action={action} after={after(/^(Execution|Edge)(Finished|Reported|Lost)$/)} />
      )}
      {witness !== null ? (
        <WitnessStep witness={witness} after={after(/Witnessed$/)} />
      ) : action.state === 'witnessing' ? (
        <AwaitedWitness tool={action.tool} />
      ) : null}
      <Step icon="stamp" title={action.deed === null ? 'Not sealed yet' : 'Sealed'} after="">
        {action.deed === null ? (
          <p>
            {action.state === 'pending_approval'
              ? 'The action is sealed when it is completed.'
              : 'The action will be sealed in a moment.'}
          </p>
        ) : (
          <p>
            <Link href={`/deeds/${action.deed}`}>View deed</Link> <Id id={action.deed} />
          </p>
        )}
      </Step>
    </ol>
  );
};

const Request = ({ request, amounts }: Pick<ActionDetail, 'request' | 'amounts'>) => {
  if (request === null) return <p>The request is missing from the store. Run an audit.</p>;
  if (isRemoved(request)) return <Removed />;
  return <Arguments args={request.args ?? {}} amounts={amounts} empty="No arguments." />;
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
          ? 'Run by the agent'
          : execution.attempts === 1
            ? 'Sent once'
            : `Sent ${execution.attempts} times`}
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
          <ErrorCode code={execution.error_code} /> <Said text={execution.error_message ?? ''} />
        </p>
      )}
      <Result result={result} deed={action.deed} />
      {redactions.length === 0 ? null : (
        <p>
          Redacted:{' '}
          {redactions.map((path) => (
            <code key={path}>{path} </code>
          ))}
        </p>
      )}
    </Step>
  );
};

/**
 * Shows a result that looks like the mark of a removed body. A tool or an agent may answer with exactly this: if the
 * evidence of the deed has the value, it is the real result; else the body was removed.
 */
const RemovedOrSo = ({ deed }: { readonly deed: string }) => {
  const { data: evidence } = useQuery(deedEvidence(deed));
  if (evidence === undefined) return null;
  const result = evidence.data.find(({ member }) => member === 'execution.result_digest');
  return result?.status === 'given' ? <Arguments args={{ removed: true }} /> : <Removed />;
};

const Result = ({ result, deed }: { readonly result: unknown; readonly deed: string | null }) => {
  if (result === null || result === undefined) return null;
  if (typeof result !== 'object' || Array.isArray(result)) return <Arguments args={{ result }} />;
  if (isRemoved(result)) return deed === null ? <Removed /> : <RemovedOrSo deed={deed} />;
  return <Arguments args={result as Readonly<Record<string, unknown>>} empty="The tool returned an empty result." />;
};
