import type { ActionId, AgentId, Timestamp } from '../kernel/index.js';
import type { PolicyDecision } from '../policies/index.js';
import type { Decision } from './action.events.js';
import type { LivingAction } from './action.state.js';

type Outcome = Decision['outcome'];

/** Why nothing can be said of an action: no policy's own word is recorded, or its input is gone or damaged. */
export type Unjudged = 'not_asked' | 'payload_removed' | 'payload_damaged';

/** The draft, or the version in force, took too long: that is no word of it, and chance decides which calls it happens to. */
type Unsaid = Unjudged | 'time_limit';

/** As many as an answer shows of the actions that a draft would have decided otherwise. */
const SAMPLES_MAX = 50;

type PreviewedAction = {
  readonly action: ActionId;
  readonly tool: string;
  readonly agent: { readonly id: AgentId; readonly name: string };
  readonly created_at: Timestamp;
  /** What the decision of the draft is compared with: that of the version in force, or what was decided then. */
  readonly from: Outcome;
  readonly to: Outcome;
  /** What the policy of that time said. */
  readonly recorded: Outcome;
  /** The rule of the draft. */
  readonly rule_id: string | null;
  /** In the words of the draft: that rule, its default, or what a condition could not read. */
  readonly reason: string;
  /** A person said no to it, and the draft asks nobody. */
  readonly human_denied: boolean;
};

/** What a draft's decision is held against. */
export interface BesideDraft {
  /** What {@link policyOutcomeOf} says of the action. */
  readonly recorded: Outcome;
  /** What the version in force says of it; null where none is in force, and what was decided then is compared. */
  readonly inForce: Pick<PolicyDecision, 'outcome' | 'timeLimitTripped'> | null;
}

/** What of a draft's decision is told. */
type DraftDecision = Pick<PolicyDecision, 'outcome' | 'ruleId' | 'reason' | 'timeLimitTripped'>;

interface Change {
  readonly from: Outcome;
  readonly to: Outcome;
  count: number;
  readonly byRule: Map<string | null, number>;
}

/**
 * What the policy of that time said of an action; null where it was not asked, or where a budget spoke over it and its word
 * is not recorded. A call that too few could approve was one to ask people about.
 */
export const policyOutcomeOf = ({ decision }: Pick<LivingAction, 'decision'>): Outcome | null => {
  switch (decision?.source) {
    case 'rule':
    case 'default':
      return decision.outcome;
    case 'builtin':
      if (decision.code === 'policy_unavailable') return 'deny';
      if (decision.code === 'approval_limit_reached') return 'require_approval';
      return decision.code === 'approval_unsatisfiable' ? 'require_approval' : null;
    default:
      return null;
  }
};

/** Adds up what a draft says of recorded actions, beside what the version in force says of them, or what was decided. Newest first. */
export class PolicyPreview {
  private readonly changes = new Map<string, Change>();
  private readonly deniedByPeople: PreviewedAction[] = [];
  private readonly others: PreviewedAction[] = [];
  private readonly unjudged: Record<Unsaid, number> = {
    not_asked: 0,
    payload_removed: 0,
    payload_damaged: 0,
    time_limit: 0,
  };
  private judged = 0;
  private same = 0;
  private changedFromRecorded = 0;
  private humanDenied = 0;
  private newest: Timestamp | null = null;
  private oldest: Timestamp | null = null;

  skip(action: LivingAction, why: Unsaid): void {
    this.look(action);
    this.unjudged[why] += 1;
  }

  add(action: LivingAction, { recorded, inForce }: BesideDraft, draft: DraftDecision): void {
    if (draft.timeLimitTripped || inForce?.timeLimitTripped) return this.skip(action, 'time_limit');
    this.look(action);
    this.judged += 1;
    if (draft.outcome !== recorded) this.changedFromRecorded += 1;
    const from = inForce?.outcome ?? recorded;
    const isSame = draft.outcome === from;
    if (isSame) this.same += 1;
    else this.count(from, draft);
    // Told whatever is in force: it stays the draft that asks nobody.
    const wasDenied = action.approval?.status === 'denied' && draft.outcome === 'allow';
    if (wasDenied) this.humanDenied += 1;
    if (isSame && !wasDenied) return;
    const samples = wasDenied ? this.deniedByPeople : this.others;
    if (samples.length < SAMPLES_MAX) {
      samples.push(sampleOf(action, { recorded, from }, draft, wasDenied));
    }
  }

  private look({ createdAt }: LivingAction): void {
    this.newest ??= createdAt;
    this.oldest = createdAt;
  }

  private count(from: Outcome, { outcome: to, ruleId }: Pick<PolicyDecision, 'outcome' | 'ruleId'>): void {
    const key = `${from} ${to}`;
    const change = this.changes.get(key) ?? { from, to, count: 0, byRule: new Map<string | null, number>() };
    change.count += 1;
    change.byRule.set(ruleId, (change.byRule.get(ruleId) ?? 0) + 1);
    this.changes.set(key, change);
  }

  /** What a person denied and the draft allows stands first among the samples. */
  result() {
    const { judged, same } = this;
    const unjudged = Object.values(this.unjudged).reduce((sum, count) => sum + count, 0);
    return {
      from: this.oldest,
      to: this.newest,
      judged,
      unjudged,
      unjudged_because: { ...this.unjudged },
      same,
      changed: judged - same,
      changed_from_recorded: this.changedFromRecorded,
      changes: [...this.changes.values()]
        .sort((one, other) => other.count - one.count)
        .map(({ from, to, count, byRule }) => ({ from, to, count, by_rule: countsOf(byRule) })),
      human_denied_now_allowed: this.humanDenied,
      samples: [...this.deniedByPeople, ...this.others].slice(0, SAMPLES_MAX),
    };
  }
}

const countsOf = (byRule: ReadonlyMap<string | null, number>) =>
  [...byRule].map(([rule_id, count]) => ({ rule_id, count })).sort((one, other) => other.count - one.count);

const sampleOf = (
  { submission, createdAt }: LivingAction,
  beside: { readonly recorded: Outcome; readonly from: Outcome },
  { outcome, ruleId, reason }: DraftDecision,
  wasDenied: boolean,
): PreviewedAction => ({
  action: submission.action,
  tool: submission.tool,
  agent: { id: submission.agent, name: submission.agent_name },
  created_at: createdAt,
  from: beside.from,
  to: outcome,
  recorded: beside.recorded,
  rule_id: ruleId,
  reason,
  human_denied: wasDenied,
});
