import type { Schemas } from '../kernel/client.ts';
import { Meter } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './agents.module.css';

interface WithBudgets {
  readonly budgets: Schemas['Budgets'];
  readonly usage?: Schemas['AgentUsage'];
}

/** What is used of the agent's daily budgets, as bars and numbers. */
export const AgentBudgets = ({ agent }: { readonly agent: WithBudgets }) => {
  const { calls_per_day: calls, spend_per_day: spend } = agent.budgets;
  if (calls === null && spend === null) return <span className={kit['dim']}>no budget</span>;
  const usedCalls = agent.usage?.charged_calls ?? 0;
  const usedSpend = agent.usage?.spend.find(({ currency }) => currency === spend?.currency)?.amount ?? 0;
  return (
    <div className={styles['budgets']}>
      {calls === null ? null : <Budget used={usedCalls} limit={calls} unit="calls" />}
      {spend === null ? null : (
        <Budget used={usedSpend} limit={spend.amount} unit={`${spend.currency} (smallest unit)`} />
      )}
    </div>
  );
};

const Budget = ({ used, limit, unit }: { readonly used: number; readonly limit: number; readonly unit: string }) => (
  <div>
    <Meter used={used} limit={limit} label={`${used} of ${limit} ${unit}`} />
    <small>
      {used} of {limit} {unit}
    </small>
  </div>
);
