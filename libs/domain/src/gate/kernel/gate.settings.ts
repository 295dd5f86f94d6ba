/** Limits of the gate that an operator or a test may change; their defaults are below. */
export interface GateSettings {
  /** An execution that is not claimed within this time fails, and nothing is sent (rule EXEC-6). */
  readonly startTimeoutMs: number;
  /** How long an agent has to report the result of a call that it runs itself (rule GATE-17). */
  readonly edgeResultTimeoutMs: number;
  /** The interval of every sweeper (rule GATE-16). */
  readonly sweepIntervalMs: number;
  /** How long an executor may be silent before its execution is taken over or ended (rule EXEC-5). */
  readonly executorSilenceMs: number;
  /** How often a process updates its liveness row. */
  readonly livenessIntervalMs: number;
  /** How long the answer of a refusal waits for the seal, independent of the caller's `wait` (rule GATE-4). */
  readonly refusalSealTimeoutMs: number;
  /** An organization whose oldest unsealed outcome is older takes no new actions (rule GATE-9). */
  readonly unsealedLimitMs: number;
  /**
   * A reading of stream heads (`heads`) that is older than this does not allow the first byte to be sent (rule GATE-3).
   */
  readonly barrierMaxAgeMs: number;
  /**
   * How long the commit of the claim itself replaces that reading of heads, because the commit has checked the same
   * streams. Counted from the start of the append (docs/adr/0017). 0: heads are always read.
   */
  readonly commitHoldsMs: number;
  /**
   * A payload younger than this is not removed, because its append may still be under way (docs/architecture.md, Rows
   * beside the log).
   */
  readonly payloadMinAgeMs: number;
  /** How many calls of one agent may wait for approval at once (docs/approvals.md, For agents' authors). */
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

/**
 * A submission without an append after this time was probably lost in a crash, so what it reserved may be freed. Its id
 * is abandoned first: the append may only be slow, and then it fails.
 */
export const LEFT_BEHIND_AFTER_MS = 60_000;

/**
 * The silence limit spans at least this many beats. Readings further apart than the limit could never show that an
 * executor was silent for all of it.
 */
const BEATS_WITHIN_SILENCE = 5;

/** The liveness interval that fits a silence limit. */
export const livenessIntervalFor = (executorSilenceMs: number): number =>
  Math.min(GATE_DEFAULTS.livenessIntervalMs, executorSilenceMs / BEATS_WITHIN_SILENCE);

/**
 * How long a ready execution may wait until something is wrong. If its job was lost, the next sweep finds it, and every
 * living executor has beaten within the silence limit.
 */
export const executionPatienceFor = ({
  sweepIntervalMs,
  executorSilenceMs,
}: Pick<GateSettings, 'sweepIntervalMs' | 'executorSilenceMs'>): number =>
  Math.max(2 * sweepIntervalMs, executorSilenceMs);

/**
 * How long a recorded outcome may wait until something is wrong. A sealer with nothing to do looks at unsealed outcomes
 * with every sweep, so an outcome that two sweeps have left means that no sealer is running.
 */
export const sealingPatienceFor = (sweepIntervalMs: number): number => 2 * sweepIntervalMs;
