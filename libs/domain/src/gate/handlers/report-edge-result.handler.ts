import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { digestOf, type Digest } from '#libs/crypto';
import {
  actionChannel,
  Bus,
  PayloadStore,
  type ActionId,
  type Append,
  type AppendResult,
  type CommandMetadata,
  type Payload,
} from '../../kernel/index.js';
import { actionDecider } from '../action.decider.js';
import type { EdgeReport } from '../action.events.js';
import { GateKernel } from '../gate-kernel.js';

/** What the tool answered at the edge: its text in RFC 8785 form, the digest of one that the edge keeps, or nothing. */
export type EdgeResult = { readonly body: string } | { readonly digest: Digest } | null;

/** An agent says what became of a call that it ran itself. That the action is its own is the caller's to see to. */
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

/** The result stands beside the log before the event that names it, as every payload does. */
@CommandHandler(ReportEdgeResult)
export class ReportEdgeResultHandler implements ICommandHandler<ReportEdgeResult> {
  constructor(
    private readonly gate: GateKernel,
    private readonly payloads: PayloadStore,
    private readonly bus: Bus,
  ) {}

  /** @throws {DomainError} conflict: it is not at the edge, was reported, or its deadline has passed */
  async execute({ action, report, result, metadata: { org, ...rest } }: ReportEdgeResult): Promise<void> {
    const metadata = { org, ...rest, correlation: action };
    const payload = org !== null && result !== null && 'body' in result ? resultOf(action, org, result.body) : null;
    const resultDigest = result !== null && 'digest' in result ? result.digest : (payload?.digest ?? null);
    const reported: EdgeReport = { ...report, result_digest: resultDigest, has_result: payload !== null };
    const append = (events: Append): Promise<AppendResult> =>
      payload === null ? this.gate.store.append(events) : this.payloads.append(this.gate.store, events, payload);
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
