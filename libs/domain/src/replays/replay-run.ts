import { digestOf, digestOfJson, parseStrictJson, RECORDED_INPUT_PROFILE } from '#libs/crypto';
import { timestampOf, type Clock } from '../kernel/index.js';
import {
  evaluatePolicy,
  POLICY_EVALUATION_LIMIT_MS,
  type CompiledPolicies,
  type CompiledPolicy,
  type LoadedPolicy,
  type PolicyDecision,
  type PolicyInput,
  policyUnavailable,
} from '../policies/index.js';
import type { RecordedCall, RecordedCalls, ReplayCursor } from './recorded-calls.port.js';
import type { ReplayOutcome } from './replay.js';
import type { ReplayUnderWay, ReplayWork } from './replay-rows.port.js';
import { ReplaySums, saidByPolicy } from './replay-sums.js';

/** What a crash costs. */
const SAVE_EVERY_MS = 1_000;
/** The claim's heartbeat needs the event loop. */
const SLICE_MS = 50;
/** Ten times what the gate waits for a policy: nobody waits here, and the process has a low priority. */
const EVALUATION_LIMIT_MS = 10 * POLICY_EVALUATION_LIMIT_MS;
/** Taken up so often without getting on, it ends the process that runs it. */
export const ATTEMPTS_MAX = 5;

/** `left`: told to stop, or ended by somebody else; whoever takes it up goes on from what was saved. */
export type ReplayEnd = 'succeeded' | 'failed' | 'left';

export interface ReplayParts {
  readonly calls: RecordedCalls;
  readonly policies: Pick<CompiledPolicies, 'load'>;
  readonly clock: Clock;
  /** Lets other work of the process run. */
  readonly pause: () => Promise<void>;
  /** How long each of the two versions may take for a call. */
  readonly limitMs?: number;
}

/**
 * Runs one replay from where it was left to its end: what was judged then is judged anew, by the candidate and by the
 * version that was in force when it was asked for, in the order of (created_at, id). Whoever runs it holds its claim.
 * @param held aborted when the claim is lost or the process is to end
 * @throws {StoreUnavailable} what was saved stands
 */
export const runReplay = async (parts: ReplayParts, work: ReplayWork, held: AbortSignal): Promise<ReplayEnd> => {
  const { policies, clock } = parts;
  const underWay = await work.takeUp();
  if (underWay === null) return 'left';
  const { replay, attempts } = underWay;
  const now = (): string => timestampOf(clock.nowMs());
  if (attempts > ATTEMPTS_MAX) return (await work.fail('internal_error', now())) ? 'failed' : 'left';
  const candidate = await policies.load(replay.policy, replay.versionId);
  // An older version may use what this build no longer takes.
  if (!candidate.isUsable) return (await work.fail('policy_unavailable', now())) ? 'failed' : 'left';
  const { inForce } = replay;
  const pass = new ReplayPass(parts, work, underWay, {
    candidate: candidate.policy,
    inForce: inForce === null ? null : await policies.load(inForce.policy, inForce.versionId),
  });
  if (!(await pass.reachEnd(held))) return 'left';
  const result = pass.sums.result();
  return (await work.succeed(pass.done, result, digestOfJson(result), now())) ? 'succeeded' : 'left';
};

interface Compared {
  readonly candidate: CompiledPolicy;
  /** Null: compared is what was decided then. */
  readonly inForce: LoadedPolicy | null;
}

/** One pass over what is left of the window. */
class ReplayPass {
  readonly sums: ReplaySums;
  done: number;
  private cursor: ReplayCursor | null;
  private savedAtMs: number;
  private pausedAtMs: number;

  constructor(
    private readonly parts: ReplayParts,
    private readonly work: ReplayWork,
    private readonly underWay: ReplayUnderWay,
    private readonly compared: Compared,
  ) {
    this.sums = new ReplaySums(underWay.sums);
    this.done = underWay.replay.done;
    this.cursor = underWay.cursor;
    this.savedAtMs = this.pausedAtMs = parts.clock.monotonicMs();
  }

  /** @returns whether the whole window was looked at; false where it is for somebody else to go on, or for nobody */
  async reachEnd(held: AbortSignal): Promise<boolean> {
    let next = this.pageAfter(this.cursor);
    for (;;) {
      const page = await next;
      const last = page.at(-1);
      if (last === undefined) return true;
      // The database reads on while this page is judged.
      next = this.pageAfter({ createdAt: last.createdAt, action: last.action });
      next.catch(() => undefined);
      for (const call of page) {
        this.judge(call);
        if (!(await this.breathe(held))) return false;
      }
    }
  }

  private pageAfter(cursor: ReplayCursor | null): Promise<readonly RecordedCall[]> {
    const { org, from, to } = this.underWay.replay;
    return this.parts.calls.page(org, { from, to }, cursor);
  }

  private judge(call: RecordedCall): void {
    const said = saidByPolicy(call);
    if (said === null) this.sums.skip('not_asked');
    else if (call.input === null) this.sums.skip('payload_removed');
    else if (digestOf(call.input) !== call.inputDigest) this.sums.skip('payload_damaged');
    else this.count(call, said, inputOf(call.input));
    this.done += 1;
    this.cursor = { createdAt: call.createdAt, action: call.action };
  }

  /** Too slow is no word of the policy: told as a refusal, it would be another one in every replay. */
  private count(call: RecordedCall, said: ReplayOutcome, input: PolicyInput): void {
    const { candidate, inForce } = this.compared;
    const decision = this.evaluated(candidate, input);
    const now =
      inForce === null
        ? null
        : inForce.isUsable
          ? this.evaluated(inForce.policy, input)
          : policyUnavailable(inForce.reason);
    if (decision.timeLimitTripped || now?.timeLimitTripped) this.sums.skip('time_limit');
    else this.sums.add(call, { said, from: now?.outcome ?? said }, decision);
  }

  private evaluated(policy: CompiledPolicy, input: PolicyInput): PolicyDecision {
    return evaluatePolicy(policy, input, { limitMs: this.parts.limitMs ?? EVALUATION_LIMIT_MS });
  }

  /** @returns whether to go on */
  private async breathe(held: AbortSignal): Promise<boolean> {
    const { clock, pause } = this.parts;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.pausedAtMs < SLICE_MS) return true;
    await pause();
    this.pausedAtMs = clock.monotonicMs();
    if (!held.aborted && nowMs - this.savedAtMs < SAVE_EVERY_MS) return true;
    this.savedAtMs = this.pausedAtMs;
    const isOurs = await this.work.save(this.done, this.cursor as ReplayCursor, this.sums.stored());
    return isOurs && !held.aborted;
  }
}

/** Its digest was compared: it is what the gate wrote. Objects have no prototype, as when it was judged. */
const inputOf = (text: string): PolicyInput =>
  parseStrictJson(Buffer.from(text), RECORDED_INPUT_PROFILE) as unknown as PolicyInput;
