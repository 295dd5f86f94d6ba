import { canonicalize, commitUnder, digestOf, newSalt } from '#libs/crypto';
import type { CallOutcome } from '../../connectors/index.js';
import {
  actionChannel,
  type Append,
  type AppendResult,
  type Bus,
  type CommandMetadata,
  type Folded,
  type Logger,
  saltedPayload,
  type SaltedPayload,
  type Timestamp,
  timestampOf,
} from '../../kernel/index.js';
import {
  actionDecider,
  type ExecutionOutcome,
  type FoundOutcome,
  beganAt,
  type Action,
  type ExecutionAttempt,
  type LivingAction,
  executorMetadata,
} from '../action/index.js';
import type { GateKernel } from '../kernel/index.js';
import { patiently, STORE_PATIENCE_MS } from '../sending/index.js';

/** How long the last try may take. It begins within the patience, and the store and the payload may take this long. */
const LAST_TRY_MS = 12_000;
/** The longest time from the end of an attempt to the end of its recording, successful or not. */
export const OUTCOME_HOLD_MS = STORE_PATIENCE_MS + LAST_TRY_MS;

/** The outcome of an attempt, and what is needed to record it. */
export interface AttemptOutcome {
  /** The action when the attempt was claimed. */
  readonly folded: Folded<Action>;
  readonly attempt: ExecutionAttempt;
  readonly outcome: CallOutcome;
  /** A claim of the next attempt that may be in the log, under which nothing was sent; null if there is none. */
  readonly withdrawn: string | null;
}

/** Records outcomes: the result as a payload, and the event that names its digest. */
export class OutcomeRecorder {
  constructor(
    private readonly gate: GateKernel,
    private readonly bus: Bus,
    private readonly logger: Logger,
  ) {}

  /** Retries while the store is unavailable, because only this process knows the outcome. */
  recordPatiently(happened: AttemptOutcome): Promise<Folded<Action>> {
    return patiently(
      this.gate.clock,
      () => this.record(happened),
      (error) => {
        this.logger.warn('an outcome could not be recorded yet', { action_id: happened.attempt.action, error });
      },
    );
  }

  /** @throws {StoreUnavailable} the outcome may or may not be recorded; it is safe to record it again */
  async record({ folded, attempt, outcome, withdrawn }: AttemptOutcome): Promise<Folded<Action>> {
    const action = folded.state as LivingAction;
    const now = timestampOf(this.gate.clock.nowMs());
    const startedAt = beganAt(action, attempt);
    const result = outcome.result === null ? null : resultOf(action, outcome.result);
    const { committed, salt } = committedOutcome(outcome, result);
    const found = foundOutcome(outcome, committed, { startedAt, now });
    const metadata = { ...executorMetadata(action, `outcome:${attempt.claim}`, now), ...salt };
    const command = {
      type: 'RecordOutcome' as const,
      data: { claim: attempt.claim, ...found, withdrawn },
      metadata,
    };
    const append = (events: Append): Promise<AppendResult> => this.gate.appends.append(events, { payload: result });
    const { folded: after } = await this.gate.runner.run(actionDecider, attempt.action, command, metadata, {
      known: folded,
      append,
    });
    this.bus.publish(actionChannel(attempt.action), 'recorded');
    return after;
  }
}

/** The digest of a result, and what deeds hold in its place and in that of the sentence on an error. */
export type CommittedOutcome = Pick<ExecutionOutcome, 'result_digest' | 'commitments'>;

/** @returns `salt`: for the metadata of the event that the sentence stands in */
const committedOutcome = (
  { errorMessage }: Pick<CallOutcome, 'errorMessage'>,
  result: SaltedPayload | null,
): { readonly committed: CommittedOutcome; readonly salt: Pick<CommandMetadata, 'salt'> } => {
  const ofResult = result === null ? {} : { result: commitUnder(result.salt, 'result', result.body) };
  const result_digest = result?.digest ?? null;
  if (errorMessage === null) return { committed: { result_digest, commitments: ofResult }, salt: {} };
  const salt = newSalt();
  const message = commitUnder(salt, 'message', canonicalize(errorMessage));
  return { committed: { result_digest, commitments: { ...ofResult, message } }, salt: { salt } };
};

/** A driver's outcome as commands hold it. */
export const foundOutcome = (
  { status, errorCode, errorMessage, cost, transaction }: CallOutcome,
  committed: CommittedOutcome,
  { startedAt, now }: { readonly startedAt: Timestamp; readonly now: Timestamp },
): FoundOutcome => ({
  outcome: {
    status,
    error_code: errorCode,
    error_message: errorMessage,
    ...committed,
    started_at: startedAt,
    finished_at: now,
    latency_ms: Math.max(0, Date.parse(now) - Date.parse(startedAt)),
    ...(cost === undefined ? {} : { cost }),
  },
  ...(transaction === undefined ? {} : { transaction }),
});

const resultOf = ({ submission }: LivingAction, body: string): SaltedPayload => {
  const { action: owner, org } = submission;
  return saltedPayload({ owner, org, kind: 'result', digest: digestOf(body), body });
};
