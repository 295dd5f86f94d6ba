import type { ActionId, AgentId, Timestamp } from '../../kernel/index.js';
import type { PolicyDecision } from '../../policies/index.js';
import type { Decision, LivingAction } from '../action/index.js';

type Outcome = Decision['outcome'];

/**
 * Why an action cannot be compared. `not_asked`: it records no decision of a policy. `payload_removed`,
 * `payload_damaged`: its policy input is gone or damaged.
 */
export type Unjudged = 'not_asked' | 'payload_removed' | 'payload_damaged';

/**
 * `time_limit`: the draft or the version in force ran out of time. That depends on the load of the machine, so it does
 * not count as a difference.
 */
type NotCompared = Unjudged | 'time_limit';

/** How many of the actions with another outcome an answer shows. */
const SAMPLES_MAX = 50;

type PreviewedAction = {
  readonly action: ActionId;
  readonly tool: string;
  readonly agent: { readonly id: AgentId; readonly name: string };
  readonly created_at: Timestamp;
  /**
   * The outcome that the draft's is compared with: that of the version in force or, if there is none, the recorded one.
   */
  readonly from: Outcome;
  readonly to: Outcome;
  /** The outcome of the policy at the time of the call. */
  readonly recorded: Outcome;
  /** The rule of the draft that decided; null if it was the default. */
  readonly rule_id: string | null;
  /** The draft's reason: its rule, its default, or the value that a condition could not read. */
  readonly reason: string;
  /** Whether a person denied the call and the draft would allow it without asking. */
  readonly human_denied: boolean;
};

/** The outcomes that a draft's decision is compared with. */
export interface ComparedOutcomes {
  /** The result of {@link policyOutcomeOf} for the action. */
  readonly recorded: Outcome;
  /**
   * The decision of the version in force. Null if no version is in force; then the draft is compared with `recorded`.
   */
  readonly inForce: Pick<PolicyDecision, 'outcome' | 'timeLimitTripped'> | null;
}

/** The parts of a draft's decision that the preview shows. */
type DraftDecision = Pick<PolicyDecision, 'outcome' | 'ruleId' | 'reason' | 'timeLimitTripped'>;

interface Change {
  readonly from: Outcome;
  readonly to: Outcome;
  count: number;
  readonly byRule: Map<string | null, number>;
}

/**
 * The outcome of the policy at the time of the call. Null if no policy was asked, or if a budget refused the call,
 * because the policy's outcome is not recorded then. A call that was refused because too few people could approve it,
 * or because too many calls waited, counts as `require_approval`.
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

/**
 * Sums up how a draft decides recorded actions, compared with the version in force or, without one, with the recorded
 * outcomes. Actions are added newest first.
 */
export class PolicyPreview {
  private readonly changes = new Map<string, Change>();
  private readonly deniedByPeople: PreviewedAction[] = [];
  private readonly others: PreviewedAction[] = [];
  private readonly unjudged: Record<NotCompared, number> = {
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

  skip(action: LivingAction, why: NotCompared): void {
    this.look(action);
    this.unjudged[why] += 1;
  }

  add(action: LivingAction, { recorded, inForce }: ComparedOutcomes, draft: DraftDecision): void {
    if (draft.timeLimitTripped || inForce?.timeLimitTripped) return this.skip(action, 'time_limit');
    this.look(action);
    this.judged += 1;
    if (draft.outcome !== recorded) this.changedFromRecorded += 1;
    const from = inForce?.outcome ?? recorded;
    const isSame = draft.outcome === from;
    if (isSame) this.same += 1;
    else this.count(from, draft);
    // Counted even if the version in force would allow the call too, because the draft would allow it without asking.
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

  /** Calls that a person denied and the draft allows come first among the samples. */
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
