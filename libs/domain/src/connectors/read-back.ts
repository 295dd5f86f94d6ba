import type { JsonObject } from '#libs/crypto';
import type { Verdict } from '../kernel/index.js';
import type { TrippedBreaker } from './tripped-breaker.js';

/** How a tool confirms what it wrote (rule EXEC-8): a read of the same connector, asked once or several times. */
export interface ReadBackTerms {
  /** The read tool, without the connector's part. */
  readonly tool: string;
  readonly attempts: number;
  /** Between two of them. */
  readonly intervalMs: number;
  /** For people: what is read and compared. */
  readonly sentence: string;
}

/** How often and how far apart a tool may be read back (docs/connectors-rest.md, Read-back and postcondition). */
export const READ_BACK_ATTEMPTS_MAX = 5;
export const READ_BACK_INTERVAL_MAX_MS = 2_000;

/** How long reading back may take at most where one read may take that long. */
export const longestReadBackMs = (timeoutMs: number): number =>
  READ_BACK_ATTEMPTS_MAX * timeoutMs + (READ_BACK_ATTEMPTS_MAX - 1) * READ_BACK_INTERVAL_MAX_MS;

/** What a read says of the write before it. */
export interface ReadBackVerdict {
  readonly verdict: Verdict;
  /**
   * Of a MISMATCH: the paths that differ, and `postcondition`. Otherwise what kept the read from saying anything:
   * `not_found`, `answer_not_kept`, `nothing_compared`, `postcondition_unanswered`, `argument_left_out`,
   * `result_missing`, or the code of a read that failed.
   */
  readonly reasons: readonly string[];
}

/** One read, judged. */
export interface Observation extends ReadBackVerdict {
  /**
   * `{answer, differs, expected, observed}`, redacted and bounded, as its RFC 8785 text. Null when no answer came.
   */
  readonly evidence: string | null;
  /** Whether the read says what is there: it came to a verdict, or found nothing. */
  readonly hasAnswer: boolean;
  /** Whether another attempt may say something else. */
  readonly mayChange: boolean;
  /** What was seen that the connector must not go on with: it is disabled before the observation is recorded. */
  readonly breaker?: TrippedBreaker;
}

/** Nothing was read, and nothing will be however often it is tried. */
export const nothingToRead = (reason: string): Observation => ({
  verdict: 'UNVERIFIABLE',
  reasons: [reason],
  evidence: null,
  hasAnswer: false,
  mayChange: false,
});

/** Expected and seen, side by side: only what was compared. A member that was not there is absent from `observed`. */
export interface ComparedValues {
  readonly expected: JsonObject;
  readonly observed: JsonObject;
  /** What of it is unequal, in the order of the config. */
  readonly differs: readonly string[];
}
