import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { digestOf, type Digest } from '#libs/crypto';
import {
  actionChannel,
  Bus,
  type ActionId,
  type Append,
  type AppendResult,
  type CommandMetadata,
  type Payload,
} from '../../kernel/index.js';
import { actionDecider, type EdgeReport } from '../action/index.js';
import { GateKernel } from '../kernel/index.js';

/**
 * What the tool answered at the edge: its text in RFC 8785 form, the digest of an answer that the edge keeps, or null
 * if there is none.
 */
export type EdgeResult = { readonly body: string } | { readonly digest: Digest } | null;

/**
 * An agent reports the result of a call that it ran itself. The sender of the command has checked that the action is
 * the agent's own.
 */
export class ReportEdgeResult extends Command<void> {
  constructor(
    readonly action: ActionId,
    readonly report: Omit<EdgeReport, 'result_digest' | 'has_result'>,
    readonly result: EdgeResult,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** Stores the result as a payload, no later than the event that names its digest. */
@CommandHandler(ReportEdgeResult)
export class ReportEdgeResultHandler implements ICommandHandler<ReportEdgeResult> {
  constructor(
    private readonly gate: GateKernel,
    private readonly bus: Bus,
  ) {}

  /** @throws {DomainError} conflict if the action is not at the edge, was already reported, or is past its deadline */
  async execute({ action, report, result, metadata: { org, ...rest } }: ReportEdgeResult): Promise<void> {
    const metadata = { org, ...rest, correlation: action };
    const payload = org !== null && result !== null && 'body' in result ? resultOf(action, org, result.body) : null;
    const resultDigest = result !== null && 'digest' in result ? result.digest : (payload?.digest ?? null);
    const reported: EdgeReport = { ...report, result_digest: resultDigest, has_result: payload !== null };
    const append = (events: Append): Promise<AppendResult> => this.gate.appends.append(events, { payload });
    const command = { type: 'ReportEdge' as const, data: { report: reported }, metadata };
    await this.gate.runner.run(actionDecider, action, command, metadata, { append });
    this.bus.publish(actionChannel(action), 'recorded');
  }
}

const resultOf = (owner: ActionId, org: Payload['org'], body: string): Payload => ({
  owner,
  org,
  kind: 'result',
  digest: digestOf(body),
  body,
});
