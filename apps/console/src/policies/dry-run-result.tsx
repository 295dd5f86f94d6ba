import type { Schemas } from '../kernel/client.ts';
import { timeLeft } from '../kernel/times.ts';
import { Arguments } from '../kit/arguments.tsx';
import { Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { OutcomeBadge, OutcomeChange, Rule } from './outcome.tsx';
import styles from './policies.module.css';

type Answer = Schemas['PolicyDryRun'];

const WHY: Readonly<Record<Answer['trace'][number]['why'], string>> = {
  tools: 'no match: tool',
  agents: 'no match: agent',
  labels: 'no match: labels',
  mode: 'no match: mode',
  side_effect: 'no match: side effect',
  when_false: 'no match: the condition is false',
  fact_missing: 'skipped: the condition needs a fact that this call does not have',
  applies: 'decides',
  no_answer: 'the condition cannot be evaluated, so the call is denied',
};

/** The result of a dry run: rule by rule, up to the one that decides. */
export const DryRunResult = ({
  answer,
  onRule,
}: {
  readonly answer: Answer;
  readonly onRule: (id: string) => void;
}) => {
  const { decision, recorded, trace, approval, budgets, input } = answer;
  return (
    <>
      <p className={styles['decision']} role="status">
        {recorded === null || recorded.outcome === decision.outcome ? (
          <OutcomeBadge outcome={decision.outcome} />
        ) : (
          <OutcomeChange from={recorded.outcome} to={decision.outcome} />
        )}
        <span>
          by <Rule id={decision.rule_id} onRule={onRule} />
          {decision.source === 'builtin' ? (
            <>
              : <Said text={decision.reason} />
            </>
          ) : null}
        </span>
      </p>
      {recorded === null ? null : (
        <p className={kit['dim']}>
          {recorded.outcome === decision.outcome ? 'Recorded decision: the same' : 'Recorded decision: different'}
          {recorded.rule_id === null ? '.' : `, by rule ${recorded.rule_id}.`}
        </p>
      )}
      {decision.message === null ? null : (
        <p>
          Message to the agent: <Said text={decision.message} />
        </p>
      )}
      {approval === null ? null : <WaitsFor approval={approval} />}
      {budgets.map(({ id, period, max_calls: calls, max_spend: spend }) => (
        <p key={id} className={kit['dim']}>
          Charged to budget <code>{id}</code>: {calls === null ? '' : `${calls} calls`}
          {calls === null || spend === null ? '' : ' and '}
          {spend === null ? '' : `${spend.amount} ${spend.currency} (smallest unit)`} a {period}.
        </p>
      ))}
      <h3>Why</h3>
      <ol className={styles['trace']}>
        {trace.map(({ rule_id: id, why }) => (
          <li key={id} data-decides={why === 'applies' || why === 'no_answer' ? '' : undefined}>
            <Rule id={id} onRule={onRule} /> <span>{WHY[why]}</span>
          </li>
        ))}
        {decision.source === 'default' ? (
          <li data-decides="">
            the default <span>decides, because no rule matches</span>
          </li>
        ) : null}
      </ol>
      <details>
        <summary>Full policy input</summary>
        <Arguments args={input} />
      </details>
    </>
  );
};

const WaitsFor = ({ approval }: { readonly approval: NonNullable<Answer['approval']> }) => (
  <p>
    Requires approval by {approval.required} of {approval.approvers.join(', ')}
    {approval.expires_in_s === null
      ? ', for the time set by the organization'
      : `, for ${timeLeft(approval.expires_in_s * 1_000)}`}
    {approval.signed ? ', each signed with a passkey' : ''}.
  </p>
);
