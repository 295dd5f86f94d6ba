import { digestOf } from '#libs/crypto';
import { evaluatePolicy, type CompiledPolicy, type PolicyInput } from '#libs/domain/policies';
import type { RecordedCall, ReplayResult } from '#libs/domain/replays';

const ASKED = ['policy_denied', 'policy_unavailable', 'approval_unsatisfiable', 'approval_limit_reached'];

/**
 * What a replay is to find, said once more and as plainly as can be: lists of everything, counted at the end. Lines are in no
 * order.
 */
export const naiveReplay = (
  candidate: CompiledPolicy,
  calls: readonly RecordedCall[],
  inForce: CompiledPolicy | null = null,
): ReplayResult => {
  const asked = calls.filter(
    (call) => call.decision !== null && (call.decision !== 'deny' || ASKED.includes(call.errorCode ?? '')),
  );
  const removed = asked.filter(({ input }) => input === null);
  const damaged = asked.filter(({ input, inputDigest }) => input !== null && digestOf(input) !== inputDigest);
  const judged = asked
    .filter((call) => !removed.includes(call) && !damaged.includes(call))
    .map((call) => {
      const input = JSON.parse(call.input as string) as PolicyInput;
      const { outcome, ruleId, source } = evaluatePolicy(candidate, input);
      const said = ['approval_unsatisfiable', 'approval_limit_reached'].includes(call.errorCode ?? '')
        ? 'require_approval'
        : (call.decision as typeof outcome);
      const from = inForce === null ? said : evaluatePolicy(inForce, input).outcome;
      return { ...call, said, from, to: outcome, ruleId, source };
    });
  type Judged = (typeof judged)[number];
  const groups = (
    keyOf: (call: Judged) => string,
    of: readonly Judged[] = judged,
  ): readonly (readonly [Judged, readonly Judged[]])[] =>
    [...new Set(of.map(keyOf))].map((key) => {
      const group = of.filter((call) => keyOf(call) === key);
      return [group[0] as Judged, group];
    });
  const tally = (group: readonly Judged[]) => ({
    judged: group.length,
    changed: group.filter(({ from, to }) => from !== to).length,
    allow: group.filter(({ to }) => to === 'allow').length,
    require_approval: group.filter(({ to }) => to === 'require_approval').length,
    deny: group.filter(({ to }) => to === 'deny').length,
  });
  const changed = judged.filter(({ from, to }) => from !== to);
  return {
    judged: judged.length,
    skipped: {
      payload_removed: removed.length,
      payload_damaged: damaged.length,
      not_asked: calls.length - asked.length,
      time_limit: 0,
    },
    changed_from_recorded: judged.filter(({ said, to }) => said !== to).length,
    changes: groups(({ from, to, ruleId, source }) => JSON.stringify([from, to, ruleId, source]), changed).map(
      ([{ from, to, ruleId, source }, group]) => ({
        from,
        to,
        rule_id: ruleId,
        source,
        count: group.length,
        sample: group.slice(0, 5).map(({ action }) => action),
      }),
    ),
    by_rule: groups(({ ruleId, source }) => JSON.stringify([ruleId, source])).map(([{ ruleId, source }, group]) => ({
      rule_id: ruleId,
      source,
      ...tally(group),
    })),
    by_tool: groups(({ tool }) => tool).map(([{ tool }, group]) => ({ tool, ...tally(group) })),
    by_agent: groups(({ agent }) => agent).map(([{ agent }, group]) => ({ agent, ...tally(group) })),
    allows_denied_by_person: judged.filter(({ to, approval }) => to === 'allow' && approval === 'denied').length,
    allows_never_asked: judged.filter(({ to, decision }) => to === 'allow' && decision === 'deny').length,
  };
};

/** The same result, with its lines in one order. */
export const inOneOrder = (result: ReplayResult): ReplayResult => ({
  ...result,
  changes: sorted(result.changes),
  by_rule: sorted(result.by_rule),
  by_tool: sorted(result.by_tool),
  by_agent: sorted(result.by_agent),
});

const sorted = <Line extends object>(lines: readonly Line[]): Line[] =>
  lines
    .map((line) => [JSON.stringify(Object.entries(line).sort()), line] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, line]) => line);
