import { setTimeout as sleep } from 'node:timers/promises';
import { commitUnder, digestOf, type JsonObject } from '#libs/crypto';
import { nothingToRead, type Observation, type ReadBackTerms } from '../../connectors/index.js';
import {
  actionChannel,
  DamagedPayload,
  failpoint,
  streamRef,
  timestampOf,
  type ActionId,
  type Append,
  type AppendResult,
  type Bus,
  type CommandMetadata,
  type Folded,
  type Logger,
  saltedPayload,
  type SaltedPayload,
  type PayloadStore,
} from '../../kernel/index.js';
import {
  type ReadBackResult,
  actionDecider,
  awaitsReadBack,
  type Action,
  type LivingAction,
  forwardedTrace,
  connectorRefOf,
  executorMetadata,
  isLiving,
} from '../action/index.js';
import type { GateKernel } from '../kernel/index.js';
import { judgedArguments, judgedTool, type JudgedTool } from '../judgement/index.js';
import { isHeldByBreaker, newClaim, patiently, SendBarrier, type Sending, tripBreaker } from '../sending/index.js';

/** How often a read is built anew because its connector changed. A connector that changes more often cannot be read. */
const MAX_LOOKS = 4;

/** On whose behalf the read is sent, and until when. */
export type Reading = Pick<Sending, 'isStillOurs' | 'isForAgent'> & {
  /** On the monotonic clock; no read continues after that. */
  readonly untilMonotonicMs: number;
};

/** A write, with the arguments and result from which its read-back is built. */
interface Write {
  readonly action: LivingAction;
  readonly args: JsonObject;
  readonly result: JsonObject | null;
}

/**
 * Checks a write by reading what it changed (rule EXEC-8). The read has no action, deed or budget charge of its own. It
 * is sent like every call, with the send barrier before its first byte. If the process crashes here, the action stays
 * without a witness, and another process reads again.
 */
export class ReadBack {
  constructor(
    private readonly gate: GateKernel,
    private readonly payloads: PayloadStore,
    private readonly bus: Bus,
    private readonly logger: Logger,
  ) {}

  /**
   * Does the read-back and records it. Does nothing if the action waits for none. If several processes read, only the
   * first result is recorded.
   */
  async confirm(id: ActionId): Promise<void> {
    // A random command id, so that the reads of two processes are never taken for one command.
    const { claim } = newClaim('', this.gate.randomness);
    const observation = await patiently(this.gate.clock, () => this.read(id), this.onAway(id));
    if (observation === null) return;
    await patiently(this.gate.clock, () => this.record(id, observation, `read-back:${claim}`), this.onAway(id));
  }

  private async read(id: ActionId): Promise<Observation | null> {
    const { state } = await this.gate.streams.load(streamRef(actionDecider, id));
    if (!isLiving(state) || !awaitsReadBack(state)) return null;
    await failpoint('exec.read_back');
    return this.observe(state, { isStillOurs: awaitsReadBack, isForAgent: true, untilMonotonicMs: Infinity });
  }

  /**
   * Reads until the write is verified, at most as often as the tool's read-back says.
   * @throws {StoreUnavailable} nothing is known about the write then
   */
  async observe(action: LivingAction, reading: Reading): Promise<Observation> {
    const args = await judgedArguments(action, this.payloads, this.logger);
    if (args === null) return nothingToRead('arguments_missing');
    const write: Write = { action, args, result: await this.resultOf(action) };
    for (let attempt = 1; ; attempt += 1) {
      const { observation, terms } = await this.lookAt(write, reading);
      if (!observation.mayChange || terms === null || attempt >= terms.attempts) return observation;
      if (this.gate.clock.monotonicMs() + terms.intervalMs >= reading.untilMonotonicMs) return observation;
      await sleep(terms.intervalMs);
    }
  }

  /** Reads once, with the connector as it is when the first byte is sent. */
  private async lookAt(
    write: Write,
    reading: Reading,
  ): Promise<{ readonly observation: Observation; readonly terms: ReadBackTerms | null }> {
    for (let look = 1; ; look += 1) {
      const connector = await this.gate.streams.load(connectorRefOf(write.action.submission));
      const found = judgedTool(this.gate.registry, write.action, connector.state);
      const terms = found?.driver.toolOf(found.connector, found.toolName)?.readBack ?? null;
      if (
        found === null ||
        terms === null ||
        (await isHeldByBreaker(this.gate, this.logger, found.connector, connector.revision))
      ) {
        return { observation: nothingToRead('connector_unavailable'), terms };
      }
      const sending = { id: write.action.submission.action, action: write.action, found: null, ...reading };
      const barrier = new SendBarrier(this.gate, this.logger, sending, connector.revision);
      const observation = await this.ask(found, write, reading, barrier);
      const { breaker } = observation;
      if (breaker !== undefined) {
        await tripBreaker(this.gate, this.logger, sending.id, { connector: found.connector, breaker });
      }
      const hasMoved = !barrier.hasOpened && observation.reasons[0] === 'connector_unavailable';
      if (!hasMoved || look === MAX_LOOKS) return { observation, terms };
    }
  }

  private async ask(
    { driver, connector, toolName }: JudgedTool,
    { action, args, result }: Write,
    { untilMonotonicMs }: Reading,
    barrier: SendBarrier,
  ): Promise<Observation> {
    const { action: id, org } = action.submission;
    const timeoutMs = driver.toolOf(connector, toolName)?.timeoutMs ?? 0;
    try {
      return await driver.observe({
        org,
        action: id,
        connector,
        toolName,
        args,
        result,
        traceparent: forwardedTrace(action.submission, 'read-back'),
        deadlineMonotonicMs: Math.min(this.gate.clock.monotonicMs() + timeoutMs, untilMonotonicMs),
        mayStillSend: (hasSent) => barrier.mayStillSend(hasSent),
      });
    } catch (error) {
      this.logger.error('a connector driver failed', { action_id: id, error });
      return nothingToRead('internal_error');
    }
  }

  /**
   * The result of the write; null unless the write succeeded, because an error answer does not describe the thing that
   * was written.
   */
  private async resultOf({ submission, outcome }: LivingAction): Promise<JsonObject | null> {
    if (outcome?.status !== 'succeeded' || outcome.result_digest === null) return null;
    try {
      const document = await this.payloads.get(submission.action, 'result', outcome.result_digest);
      return document === null ? null : (JSON.parse(document) as JsonObject);
    } catch (error) {
      if (!(error instanceof DamagedPayload)) throw error;
      this.logger.error('a result is not the one that was recorded', { action_id: submission.action, error });
      return null;
    }
  }

  private async record(id: ActionId, observation: Observation, commandId: string): Promise<void> {
    const known = await this.gate.streams.load(streamRef(actionDecider, id));
    const now = timestampOf(this.gate.clock.nowMs());
    const metadata = executorMetadata(known.state as LivingAction, commandId, now);
    await this.write(known, 'RecordReadBack', observation, metadata);
  }

  /**
   * Stores the evidence as a payload, and appends the event that names its digest.
   * @throws {DomainError} from the decider
   */
  async write(
    known: Folded<Action>,
    type: 'RecordReadBack' | 'AmendWitness',
    observation: Observation,
    metadata: CommandMetadata,
  ): Promise<void> {
    const { action: id, org } = (known.state as LivingAction).submission;
    const evidence = observation.evidence === null ? null : evidenceOf(id, org, observation.evidence);
    const command = { type, data: resultOf(observation, evidence), metadata };
    const append = (events: Append): Promise<AppendResult> => this.gate.appends.append(events, { payload: evidence });
    await this.gate.runner.run(actionDecider, id, command, metadata, { known, append });
    this.bus.publish(actionChannel(id), 'recorded');
  }

  private onAway(id: ActionId): (error: unknown) => void {
    return (error) => this.logger.warn('a read-back waits for the store', { action_id: id, error });
  }
}

const resultOf = ({ verdict, reasons }: Observation, evidence: SaltedPayload | null): ReadBackResult =>
  evidence === null
    ? { verdict, reasons, evidenceDigest: null }
    : {
        verdict,
        reasons,
        evidenceDigest: evidence.digest,
        commitments: { evidence: commitUnder(evidence.salt, 'evidence', evidence.body) },
      };

const evidenceOf = (owner: ActionId, org: string, body: string): SaltedPayload =>
  saltedPayload({ owner, org, kind: 'observation', digest: digestOf(body), body });
