import { commitUnder, digestOf } from '#libs/crypto';
import type { LoggedTransaction } from '../../connectors/index.js';
import {
  actionChannel,
  type ActionId,
  type Append,
  type AppendResult,
  type Bus,
  type Folded,
  type Payload,
  saltedPayload,
  streamRef,
  timestampOf,
} from '../../kernel/index.js';
import {
  type Action,
  type ActionCommand,
  actionDecider,
  executorMetadata,
  isLiving,
  type LivingAction,
  type Postcondition,
  progressOf,
  seenOf,
  type SilenceReason,
} from '../action/index.js';
import type { GateKernel } from '../kernel/index.js';
import { newClaim } from '../sending/index.js';
import { changeLogEvidence } from './change-log-evidence.js';

/** Evaluates the postcondition of the tool that an action has called; `none` where the tool has none. */
export type PostconditionOf = (action: LivingAction, logged: LoggedTransaction) => Promise<Postcondition>;

/**
 * Takes what a change log shows into the streams of the actions that it is about (level L2). Whoever reads the log may
 * report the same transaction again, in any order with the outcome, and from several processes at once: the first word
 * about an action is the log's, and the rest changes nothing.
 */
export class ChangeLogWitness {
  constructor(
    private readonly gate: GateKernel,
    private readonly bus: Bus,
    private readonly postconditionOf: PostconditionOf,
  ) {}

  /**
   * The log shows a transaction that carries the mark of that attempt. When this resolves, the word is in the event log
   * and the reader may forget the transaction.
   * @returns `known`: reported before. `not_ours`: no such attempt has said that it would change anything
   * @throws {StoreUnavailable} it may or may not be recorded; it is safe to report it again
   */
  async report(id: ActionId, attempt: number, logged: LoggedTransaction): Promise<'recorded' | 'known' | 'not_ours'> {
    const known = await this.gate.streams.load(streamRef(actionDecider, id));
    const { state } = known;
    if (!isLiving(state) || progressOf(state, attempt) === null) return 'not_ours';
    const { body, rowsKept } = changeLogEvidence(id, attempt, logged);
    const { org } = state.submission;
    const evidence = saltedPayload({ owner: id, org, kind: 'observation', digest: digestOf(body), body });
    const commitments = { evidence: commitUnder(evidence.salt, 'evidence', body) };
    const postcondition = await this.postconditionOf(state, logged);
    const seen = { ...seenOf(logged), rows_kept: rowsKept };
    const data = { attempt, seen, postcondition, evidence_digest: evidence.digest, commitments };
    const isRecorded = await this.run(known, { type: 'ReportWitness', data }, evidence);
    return isRecorded ? 'recorded' : 'known';
  }

  /**
   * The log has passed the place where the transaction must be, and it is not there.
   * @returns whether that is news
   */
  reportAbsence(id: ActionId, reason: 'transaction_missing'): Promise<boolean> {
    return this.tell(id, { type: 'RecordAbsence', data: { reason } });
  }

  /**
   * Nobody waits for the log any longer: the witness is UNVERIFIABLE for that reason, and what the log says later amends
   * it.
   * @returns whether the action has waited
   */
  giveUp(id: ActionId, reason: SilenceReason): Promise<boolean> {
    return this.tell(id, { type: 'GiveUpWitness', data: { reason } });
  }

  private async tell(id: ActionId, command: Pick<ActionCommand, 'type' | 'data'>): Promise<boolean> {
    const known = await this.gate.streams.load(streamRef(actionDecider, id));
    return isLiving(known.state) && this.run(known, command, null);
  }

  /** @returns whether an event was appended */
  private async run(
    known: Folded<Action>,
    command: Pick<ActionCommand, 'type' | 'data'>,
    payload: Payload | null,
  ): Promise<boolean> {
    const action = known.state as LivingAction;
    const id = action.submission.action;
    const now = timestampOf(this.gate.clock.nowMs());
    // A random command id, so that the words of two processes are never taken for one command.
    const metadata = executorMetadata(action, `witness:${newClaim('', this.gate.randomness).claim}`, now);
    const append = (events: Append): Promise<AppendResult> => this.gate.appends.append(events, { payload });
    const whole = { ...command, metadata } as ActionCommand;
    const { events } = await this.gate.runner.run(actionDecider, id, whole, metadata, { known, append });
    if (events.length > 0) this.bus.publish(actionChannel(id), 'recorded');
    return events.length > 0;
  }
}
