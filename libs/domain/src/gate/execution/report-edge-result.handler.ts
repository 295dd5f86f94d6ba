import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { canonicalize, commitUnder, digestOf, newSalt, type Digest, type Salt } from '#libs/crypto';
import {
  actionChannel,
  Bus,
  type ActionId,
  type Append,
  type AppendResult,
  type CommandMetadata,
  type Payload,
  saltedPayload,
  type SaltedPayload,
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
    readonly report: Omit<EdgeReport, 'result_digest' | 'has_result' | 'commitments'>,
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
    const salt = newSalt();
    const metadata = { org, ...rest, correlation: action, salt };
    const payload = org !== null && result !== null && 'body' in result ? resultOf(action, org, result.body) : null;
    const named = result !== null && 'digest' in result ? keptAtTheEdge(result.digest, salt) : stored(payload);
    const reported: EdgeReport = {
      ...report,
      result_digest: named.digest,
      has_result: payload !== null,
      commitments: { ...named.commitments, ...messageOf(report, salt) },
    };
    const append = (events: Append): Promise<AppendResult> => this.gate.appends.append(events, { payload });
    const command = { type: 'ReportEdge' as const, data: { report: reported }, metadata };
    await this.gate.runner.run(actionDecider, action, command, metadata, { append });
    this.bus.publish(actionChannel(action), 'recorded');
  }
}

const resultOf = (owner: ActionId, org: Payload['org'], body: string): SaltedPayload =>
  saltedPayload({ owner, org, kind: 'result', digest: digestOf(body), body });

interface NamedResult {
  readonly digest: Digest | null;
  readonly commitments: Pick<NonNullable<EdgeReport['commitments']>, 'result'>;
}

const stored = (payload: SaltedPayload | null): NamedResult =>
  payload === null
    ? { digest: null, commitments: {} }
    : { digest: payload.digest, commitments: { result: commitUnder(payload.salt, 'result', payload.body) } };

/** All that is known of a result that the edge keeps is its digest, so that is what the deed commits to. */
const keptAtTheEdge = (digest: Digest, salt: Salt): NamedResult => ({
  digest,
  commitments: { result: commitUnder(salt, 'result', canonicalize(digest)) },
});

const messageOf = ({ error_message: message }: Pick<EdgeReport, 'error_message'>, salt: Salt) =>
  message === null ? {} : { message: commitUnder(salt, 'message', canonicalize(message)) };
