import type { PolicyDecision } from '../policies/index.js';
import type { RecordedCall } from './recorded-calls.port.js';
import type { ReplayChange, ReplayOutcome, ReplayResult, ReplayTally } from './replay.js';

/** How many actions stand for a change. */
export const SAMPLE_MAX = 5;
/** Tools are named by whoever calls: those met first have a line of their own, and all others share one. */
export const NAMES_MAX = 200;

/** Sums as a row keeps them between two processes: plain JSON. */
export type StoredSums = {
  readonly judged: number;
  readonly skipped: ReplayResult['skipped'];
  /** Left out by an older version, which compared with what was decided then and nothing else. */
  readonly changedFromRecorded?: number;
  readonly changes: readonly ReplayChange[];
  readonly byRule: ReplayResult['by_rule'];
  readonly byTool: ReplayResult['by_tool'];
  readonly byAgent: ReplayResult['by_agent'];
  readonly allowsDeniedByPerson: number;
  readonly allowsNeverAsked: number;
};

export type SkipReason = keyof ReplayResult['skipped'];

/** Codes of refusals that say that a policy was asked. */
const ANSWERS_OF_POLICIES: ReadonlySet<string | null> = new Set([
  'policy_denied',
  'policy_unavailable',
  'approval_unsatisfiable',
  'approval_limit_reached',
]);

/**
 * What the policy of that time said of a call; null where none was asked, or what it said is not on record. Where it asked for
 * more approvers than there are, or too many of the agent's calls waited, the gate refused and the policy had asked.
 */
export const saidByPolicy = ({
  decision,
  errorCode,
}: Pick<RecordedCall, 'decision' | 'errorCode'>): ReplayOutcome | null => {
  if (decision !== 'deny') return decision;
  if (!ANSWERS_OF_POLICIES.has(errorCode)) return null;
  return errorCode === 'approval_unsatisfiable' || errorCode === 'approval_limit_reached' ? 'require_approval' : 'deny';
};

/**
 * Adds up what a candidate says of recorded calls. Bounded in size, however many there are. The same calls in the same
 * order give the same result, also where another process goes on from {@link stored}.
 */
export class ReplaySums {
  private judged = 0;
  private readonly skipped = { payload_removed: 0, payload_damaged: 0, not_asked: 0, time_limit: 0 };
  private readonly changes = new Map<string, ReplayChange>();
  private readonly byRule = new Map<string, ReplayResult['by_rule'][number]>();
  private readonly byTool = new Map<string | null, ReplayResult['by_tool'][number]>();
  private readonly byAgent = new Map<string | null, ReplayResult['by_agent'][number]>();
  private changedFromRecorded = 0;
  private allowsDeniedByPerson = 0;
  private allowsNeverAsked = 0;

  /** @param stored copied, not kept */
  constructor(stored: StoredSums | null = null) {
    if (stored === null) return;
    this.judged = stored.judged;
    this.changedFromRecorded =
      stored.changedFromRecorded ?? stored.changes.reduce((sum, { count: actions }) => sum + actions, 0);
    Object.assign(this.skipped, stored.skipped);
    for (const change of stored.changes) this.changes.set(keyOf(change), { ...change, sample: [...change.sample] });
    for (const line of stored.byRule) this.byRule.set(`${line.source} ${line.rule_id}`, { ...line });
    for (const line of stored.byTool) this.byTool.set(line.tool, { ...line });
    for (const line of stored.byAgent) this.byAgent.set(line.agent, { ...line });
    this.allowsDeniedByPerson = stored.allowsDeniedByPerson;
    this.allowsNeverAsked = stored.allowsNeverAsked;
  }

  skip(reason: SkipReason): void {
    this.skipped[reason] += 1;
  }

  /**
   * @param said what the policy of that time said ({@link saidByPolicy})
   * @param from what the decision of the candidate is compared with: that, or what the version in force says
   */
  add(
    { action, agent, tool, decision: recorded, approval }: RecordedCall,
    { said, from }: { readonly said: ReplayOutcome; readonly from: ReplayOutcome },
    decision: PolicyDecision,
  ): void {
    const { outcome: to, ruleId, source } = decision;
    const isChange = from !== to;
    this.judged += 1;
    if (said !== to) this.changedFromRecorded += 1;
    const rule = `${source} ${ruleId}`;
    count(
      line(this.byRule, rule, () => ({ rule_id: ruleId, source, ...tally() })),
      to,
      isChange,
    );
    const toolName = named(this.byTool, tool);
    count(
      line(this.byTool, toolName, () => ({ tool: toolName, ...tally() })),
      to,
      isChange,
    );
    const agentId = named(this.byAgent, agent);
    count(
      line(this.byAgent, agentId, () => ({ agent: agentId, ...tally() })),
      to,
      isChange,
    );
    if (to === 'allow' && approval === 'denied') this.allowsDeniedByPerson += 1;
    if (to === 'allow' && recorded === 'deny') this.allowsNeverAsked += 1;
    if (!isChange) return;
    const key = { from, to, rule_id: ruleId, source };
    const change = line(this.changes, keyOf(key), () => ({ ...key, count: 0, sample: [] }));
    change.count += 1;
    if (change.sample.length < SAMPLE_MAX) change.sample.push(action);
  }

  /** What {@link ReplaySums} goes on from. */
  stored(): StoredSums {
    return {
      judged: this.judged,
      skipped: { ...this.skipped },
      changedFromRecorded: this.changedFromRecorded,
      changes: [...this.changes.values()],
      byRule: [...this.byRule.values()],
      byTool: [...this.byTool.values()],
      byAgent: [...this.byAgent.values()],
      allowsDeniedByPerson: this.allowsDeniedByPerson,
      allowsNeverAsked: this.allowsNeverAsked,
    };
  }

  /** What weighs most stands first; of what weighs the same, what was met first. */
  result(): ReplayResult {
    return {
      judged: this.judged,
      skipped: { ...this.skipped },
      changed_from_recorded: this.changedFromRecorded,
      changes: [...this.changes.values()].sort((one, other) => other.count - one.count),
      by_rule: byWeight(this.byRule),
      by_tool: byWeight(this.byTool),
      by_agent: byWeight(this.byAgent),
      allows_denied_by_person: this.allowsDeniedByPerson,
      allows_never_asked: this.allowsNeverAsked,
    };
  }
}

const keyOf = ({ from, to, rule_id: ruleId, source }: Omit<ReplayChange, 'count' | 'sample'>): string =>
  `${from} ${to} ${source} ${ruleId}`;

const tally = (): ReplayTally => ({ judged: 0, changed: 0, allow: 0, require_approval: 0, deny: 0 });

const line = <Key, Line>(lines: Map<Key, Line>, key: Key, make: () => Line): Line => {
  const known = lines.get(key);
  if (known !== undefined) return known;
  const made = make();
  lines.set(key, made);
  return made;
};

/** The name, or null where no further one has room. */
const named = <Name extends string>(lines: ReadonlyMap<string | null, unknown>, name: Name): Name | null =>
  lines.has(name) || lines.size - (lines.has(null) ? 1 : 0) < NAMES_MAX ? name : null;

const count = (into: ReplayTally, outcome: ReplayOutcome, isChange: boolean): void => {
  into.judged += 1;
  into[outcome] += 1;
  if (isChange) into.changed += 1;
};

const byWeight = <Line extends ReplayTally>(lines: ReadonlyMap<unknown, Line>): Line[] =>
  [...lines.values()].sort((one, other) => other.judged - one.judged);
