import type { Schemas } from '../kernel/client.ts';
import { timeLeft } from '../kernel/times.ts';
import { Arguments } from '../kit/arguments.tsx';
import { Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { OutcomeBadge, OutcomeChange, Rule } from './outcome.tsx';
import styles from './policies.module.css';

type Answer = Schemas['PolicyDryRun'];

const WHY: Readonly<Record<Answer['trace'][number]['why'], string>> = {
  tools: 'passed over: another tool',
  agents: 'passed over: another agent',
  labels: 'passed over: the agent lacks its labels',
  mode: 'passed over: run otherwise',
  side_effect: 'passed over: another side effect',
  when_false: 'passed over: its condition is false',
  fact_missing: 'passed over: it allows by a fact that the call does not have',
  applies: 'decides',
  no_answer: 'its condition has no answer, so the call is refused',
};

/** What the text says of one call: rule after rule, up to the one that decides. */
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
          {recorded.outcome === decision.outcome ? 'It was decided the same then' : 'It was decided otherwise then'}
          {recorded.rule_id === null ? '.' : `, by rule ${recorded.rule_id}.`}
        </p>
      )}
      {decision.message === null ? null : (
        <p>
          The agent would read: <Said text={decision.message} />
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
            the default <span>decides, since no rule does</span>
          </li>
        ) : null}
      </ol>
      <details>
        <summary>All that was judged</summary>
        <Arguments args={input} />
      </details>
    </>
  );
};

const WaitsFor = ({ approval }: { readonly approval: NonNullable<Answer['approval']> }) => (
  <p>
    It would wait for {approval.required} of {approval.approvers.join(', ')}
    {approval.expires_in_s === null
      ? ', as long as the organization has set'
      : `, for ${timeLeft(approval.expires_in_s * 1_000)}`}
    .
  </p>
);
