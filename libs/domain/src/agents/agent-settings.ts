import { DomainError, type Timestamp } from '../kernel/index.js';
import type { AgentSettings } from './agent.commands.js';
import type { AgentBudgets, AgentEvent, IntentMode } from './agent.events.js';
import type { LivingAgent } from './agent.state.js';

/**
 * One event for each setting that becomes another, so that each has a deed of its own; none for what is so already.
 * @throws {DomainError} conflict
 */
export const settingsChanged = (
  agent: LivingAgent,
  { intentMode, labels, budgets }: AgentSettings,
  at: Timestamp,
): readonly AgentEvent[] => {
  const of = { org: agent.org, agent: agent.agent };
  const events: AgentEvent[] = [];
  if (intentMode !== undefined && intentMode !== agent.intentMode) {
    requireSignable(agent, intentMode);
    events.push({ type: 'AgentIntentModeSet', data: { ...of, from: agent.intentMode, to: intentMode, at } });
  }
  if (labels !== undefined && !areSameLabels(labels, agent.labels)) {
    events.push({ type: 'AgentLabelsSet', data: { ...of, labels, at } });
  }
  const wanted = { ...agent.budgets, ...budgets };
  if (!areSameBudgets(wanted, agent.budgets)) {
    const { calls_per_day, spend_per_day } = wanted;
    events.push({ type: 'AgentBudgetsSet', data: { ...of, calls_per_day, spend_per_day, at } });
  }
  return events;
};

/** `required` without a key would lock the agent out (rule INTENT-1). */
const requireSignable = ({ intentKeys }: LivingAgent, mode: IntentMode): void => {
  if (mode !== 'required' || intentKeys.length > 0) return;
  throw new DomainError('conflict', {
    param: 'intent_mode',
    message:
      'The field intent_mode cannot be required while the agent has no intent key: every call would be refused. ' +
      'Register one first with POST /v1/agents/{id}/intent-keys.',
  });
};

type Labels = LivingAgent['labels'];

const areSameLabels = (one: Labels, other: Labels): boolean => {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
};

const areSameBudgets = (one: AgentBudgets, other: AgentBudgets): boolean =>
  one.calls_per_day === other.calls_per_day &&
  one.spend_per_day?.amount === other.spend_per_day?.amount &&
  one.spend_per_day?.currency === other.spend_per_day?.currency;
