import type { ChaosResult, Coverage } from './chaos-run.js';
import { INVARIANT_IDS, NOT_COMPUTED, violationsIn, type Violation } from './checker.js';
import { dossierOf, isDenied, membersOf, outcomeOf, textOf } from './dossier.js';
import type { Evidence } from './evidence.js';

/** What a run came to, as `--json` prints it. */
export interface ChaosVerdict {
  readonly object: 'chaos_verdict';
  readonly result: 'intact' | 'violated';
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly calls: number;
  readonly lost_answers: number;
  /** Actions by how they ended. */
  readonly actions: Readonly<Record<string, number>>;
  /** Executions that a kill met: each ended by whoever came after. */
  readonly executors_lost: number;
  readonly deeds: number;
  readonly exports: { readonly whole: number; readonly cut: number };
  readonly coverage: Coverage;
  readonly computed: readonly string[];
  readonly not_computed: Readonly<Record<string, string>>;
}

export const verdictOn = (seed: number, { evidence, coverage }: ChaosResult): ChaosVerdict => {
  const violations = violationsIn(evidence);
  const { actions, deeds } = dossierOf(evidence);
  const ends: Record<string, number> = {};
  for (const file of actions.values()) {
    const end = isDenied(file) ? 'refused' : textOf(outcomeOf(file)?.['status']) || 'open';
    ends[end] = (ends[end] ?? 0) + 1;
  }
  return {
    object: 'chaos_verdict',
    result: violations.length === 0 ? 'intact' : 'violated',
    seed,
    violations,
    calls: evidence.calls.length,
    lost_answers: evidence.calls.filter(({ answer }) => answer === null).length,
    actions: ends,
    executors_lost: executorsLost(evidence),
    deeds: deeds.length,
    exports: {
      whole: evidence.exports.filter(({ isCut }) => !isCut).length,
      cut: evidence.exports.filter(({ isCut }) => isCut).length,
    },
    coverage,
    computed: INVARIANT_IDS,
    not_computed: NOT_COMPUTED,
  };
};

const executorsLost = ({ events }: Evidence): number =>
  events.filter(({ type, data }) => {
    const { reasons } = membersOf(data);
    return type === 'ActionWitnessed' && Array.isArray(reasons) && reasons.includes('executor_lost');
  }).length;

/**
 * A run that saw too little proves nothing: each kill under an execution must have left an execution without its executor,
 * and of those at a failpoint one of two at least must have come in time for it.
 * @returns what is missing, or null
 */
export const blindnessOf = ({ coverage, executors_lost: lost }: Seen): string | null => {
  const { execution = 0, failpoint = 0 } = coverage.kills;
  if (lost < execution) {
    return `${execution} kills were to meet an execution, and only ${lost} executions lost their executor`;
  }
  return coverage.missed * 2 > failpoint
    ? `${failpoint} kills were to meet a failpoint, and ${coverage.missed} came too late for it`
    : null;
};

type Seen = Pick<ChaosVerdict, 'coverage' | 'executors_lost'>;

const SHOWN_OF_EACH = 5;

/** For a person: the violations by invariant, then what the run was made of. */
export const verdictText = (verdict: ChaosVerdict): string => {
  const { violations, actions, coverage, exports } = verdict;
  const counts = (named: Readonly<Record<string, number>>): string =>
    Object.entries(named)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ') || 'none';
  const byInvariant = INVARIANT_IDS.flatMap((id) => {
    const found = violations.filter(({ invariant }) => invariant === id);
    const [first] = found;
    if (!first) return [];
    const more = found.length > SHOWN_OF_EACH ? [`    and ${found.length - SHOWN_OF_EACH} more`] : [];
    return [
      `  ${id} (${first.title}):`,
      ...found.slice(0, SHOWN_OF_EACH).map(({ message }) => `    ${message}`),
      ...more,
    ];
  });
  return [
    violations.length === 0
      ? `Intact: ${INVARIANT_IDS.length} invariants hold.`
      : `Violated: ${new Set(violations.map(({ invariant }) => invariant)).size} of ${INVARIANT_IDS.length} invariants.`,
    ...byInvariant,
    `  kills: ${counts(coverage.kills)}; ${coverage.missed} came too late for their failpoint`,
    `  calls: ${verdict.calls}, of which ${verdict.lost_answers} lost their answer`,
    `  actions: ${counts(actions)}; ${verdict.executors_lost} lost their executor`,
    `  deeds: ${verdict.deeds}; exports: ${exports.whole} whole, ${exports.cut} cut short`,
    `  failpoints that acted: ${counts(coverage.acted)}`,
  ].join('\n');
};
