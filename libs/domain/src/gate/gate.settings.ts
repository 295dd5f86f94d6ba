/** Limits of the gate that an operator or a test may change; their defaults are below. */
export interface GateSettings {
  /** An execution not claimed by then fails, nothing sent (rule EXEC-6). */
  readonly startTimeoutMs: number;
  /** How long an agent has to report what became of a call that it runs itself (rule GATE-17). */
  readonly edgeResultTimeoutMs: number;
  /** Every sweeper's interval (rule GATE-16). */
  readonly sweepIntervalMs: number;
  /** How long an executor may be silent before its execution is taken over or ended (rule EXEC-5). */
  readonly executorSilenceMs: number;
  /** How often a process shows that it lives. */
  readonly livenessIntervalMs: number;
  /** How long a refusal waits for its seal, whatever `wait` says (rule GATE-4). */
  readonly refusalSealTimeoutMs: number;
  /** An organization whose oldest unsealed outcome is older takes no new actions (rule GATE-9). */
  readonly unsealedLimitMs: number;
  /** Age at which `heads`, asked before the first byte, is too old to send by (rule GATE-3). */
  readonly barrierMaxAgeMs: number;
  /**
   * How long the claim's own commit counts as the answer to that question, by what it found standing. Counted from when
   * the append was sent (docs/adr/0017). 0: the question is asked every time.
   */
  readonly commitHoldsMs: number;
  /** A payload younger than this may belong to an append under way (docs/architecture.md, Rows beside the log). */
  readonly payloadMinAgeMs: number;
  /** So many calls of one agent wait for people at once (docs/approvals.md, For agents' authors). */
  readonly waitingPerAgentMax: number;
}

export const GATE_DEFAULTS: GateSettings = {
  startTimeoutMs: 5 * 60 * 1000,
  edgeResultTimeoutMs: 10 * 60 * 1000,
  sweepIntervalMs: 5_000,
  executorSilenceMs: 5_000,
  livenessIntervalMs: 1_000,
  refusalSealTimeoutMs: 10_000,
  unsealedLimitMs: 15 * 60 * 1000,
  barrierMaxAgeMs: 1_000,
  commitHoldsMs: 100,
  payloadMinAgeMs: 60 * 60 * 1000,
  waitingPerAgentMax: 100,
};

/** Silence is read over several beats: readings that are further apart than the limit never cover the whole of it. */
const BEATS_WITHIN_SILENCE = 5;

/** How often a process beats where executors may be silent for that long. */
export const livenessIntervalFor = (executorSilenceMs: number): number =>
  Math.min(GATE_DEFAULTS.livenessIntervalMs, executorSilenceMs / BEATS_WITHIN_SILENCE);

/**
 * What no queue rang for is taken up by the next sweep of a process that executes, and such a process beats more often
 * than it may be silent.
 */
export const executionPatienceFor = ({
  sweepIntervalMs,
  executorSilenceMs,
}: Pick<GateSettings, 'sweepIntervalMs' | 'executorSilenceMs'>): number =>
  Math.max(2 * sweepIntervalMs, executorSilenceMs);

/** At rest the sealer goes over what it has not sealed with every sweep. What two sweeps have left, nobody seals. */
export const sealingPatienceFor = (sweepIntervalMs: number): number => 2 * sweepIntervalMs;
