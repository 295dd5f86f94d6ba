import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Observation } from '../../connectors/index.js';
import {
  Bus,
  DomainError,
  isErrorCode,
  Logger,
  PayloadStore,
  streamRef,
  type ActionId,
  type CommandMetadata,
  type OrgId,
} from '../../kernel/index.js';
import { actionDecider, type LivingAction, requireAmendable, connectorRefOf, isLiving } from '../action/index.js';
import { GateKernel } from '../kernel/index.js';
import { judgedTool } from '../judgement/index.js';
import { ReadBack } from './read-back.js';

/** A person asks for another read-back of a recorded action. */
export class ConfirmAgain extends Command<ActionId> {
  constructor(
    readonly org: OrgId,
    readonly action: ActionId,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** Time limit of all reads together, because the caller waits for them. */
const ASKED_MAX_MS = 45_000;

/**
 * Reads back again, and amends the witness by the result. A read without an answer amends nothing, because the earlier
 * verdict is worth more. A Stop of the agent, or its revoked key, does not prevent the read, because a person asks for
 * it; a Stop of the organization does.
 */
@CommandHandler(ConfirmAgain)
export class ConfirmAgainHandler implements ICommandHandler<ConfirmAgain> {
  private readonly reads: ReadBack;

  constructor(
    private readonly gate: GateKernel,
    payloads: PayloadStore,
    bus: Bus,
    logger: Logger,
  ) {
    this.reads = new ReadBack(gate, payloads, bus, logger);
  }

  /** @throws {DomainError} not_found, conflict, connector_unavailable, service_unavailable */
  async execute({ org, action: id, metadata }: ConfirmAgain): Promise<ActionId> {
    const known = await this.gate.streams.load(streamRef(actionDecider, id));
    const { state } = known;
    if (!isLiving(state) || state.submission.org !== org) throw new DomainError('not_found');
    if (known.causations.has(metadata.commandId)) return id;
    requireAmendable(state);
    await this.requireReadBack(state);
    this.gate.requireSealingKeepsUp(org);
    const observation = await this.reads.observe(state, {
      isStillOurs: (now) => now.state === 'recorded',
      isForAgent: false,
      untilMonotonicMs: this.gate.clock.monotonicMs() + ASKED_MAX_MS,
    });
    if (!observation.hasAnswer) throw unanswered(observation);
    await this.reads.write(known, 'AmendWitness', observation, metadata);
    return id;
  }

  private async requireReadBack(action: LivingAction): Promise<void> {
    const { state } = await this.gate.streams.load(connectorRefOf(action.submission));
    const found = judgedTool(this.gate.registry, action, state);
    if (found === null) throw new DomainError('conflict', { message: CHANGED });
    const tool = found.driver.toolOf(found.connector, found.toolName);
    if (tool?.readBack === undefined) throw new DomainError('conflict', { message: NO_READ_BACK });
  }
}

const CHANGED =
  'The tool of this action, or its connector, is not as it was when it ran, so a read would not confirm that call. Look at the upstream service itself.';
const NO_READ_BACK =
  'The tool of this action has no read-back. An admin can give it one with PATCH /v1/connectors/{id}, for the calls after that.';
const NOT_CONFIRMABLE =
  'A read cannot confirm this call: it needs a part of the arguments or of the result that is not there. Look at the upstream service itself.';

/** Reasons that describe an unclear answer, which may be clear the next time. */
const UNCLEAR_ANSWERS: ReadonlySet<string> = new Set(['answer_not_kept', 'postcondition_unanswered']);

const unanswered = ({ reasons: [reason = 'internal_error'] }: Observation): DomainError => {
  const isPassing = UNCLEAR_ANSWERS.has(reason) || (isErrorCode(reason) && reason !== 'validation_failed');
  if (!isPassing) return new DomainError('conflict', { message: NOT_CONFIRMABLE });
  return new DomainError('connector_unavailable', {
    message: `The read did not say what is there (${reason}), and the witness stays as it was. Try again later.`,
  });
};
