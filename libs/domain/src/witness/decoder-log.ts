import { encodeHex, sha256 } from '#libs/crypto';
import {
  type Clock,
  type CommandMetadata,
  type CommandRunner,
  type ConnectorId,
  type FoldedStreams,
  type OrgId,
  type Randomness,
  streamRef,
  SYSTEM,
  timestampOf,
} from '../kernel/index.js';
import type { DecoderAddress, DecoderCommand } from './decoder.commands.js';
import { decoderDecider } from './decoder.decider.js';
import type { AttachedLog, DecoderAlert, DecoderReason } from './decoder.events.js';
import type { Decoder } from './decoder.state.js';

/** What a decoder has to say of itself, in the log. The service says it, so its events are the system's. */
export class DecoderLog {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    private readonly sources: { readonly clock: Clock; readonly randomness: Randomness },
  ) {}

  async load(connector: ConnectorId): Promise<Decoder> {
    return (await this.streams.load(streamRef(decoderDecider, connector))).state;
  }

  attach(of: DecoderAddress, log: AttachedLog): Promise<void> {
    return this.run({ type: 'AttachDecoder', data: { ...of, ...log }, metadata: this.metadata(of.org) });
  }

  detach(of: DecoderAddress, slot: string): Promise<void> {
    return this.run({ type: 'DetachDecoder', data: { ...of, slot }, metadata: this.metadata(of.org) });
  }

  /** @param reason null: nothing is wrong */
  health(of: DecoderAddress, reason: DecoderReason | null, lagBytes: number | null = null): Promise<void> {
    const lag = lagBytes === null ? {} : { lag_bytes: lagBytes };
    return this.run({ type: 'ReportHealth', data: { ...of, reason, ...lag }, metadata: this.metadata(of.org) });
  }

  /** @param commitLsn where the transaction committed: of one that is sent again, the alert is not told again */
  alert(of: DecoderAddress, alert: DecoderAlert, commitLsn: string): Promise<void> {
    const told = [of.connector, commitLsn, alert.xid, alert.kind, alert.table ?? ''].join('\n');
    const commandId = encodeHex(sha256(`service/decoder-alert/v1\n${told}`));
    return this.run({ type: 'ReportAlert', data: { ...of, ...alert }, metadata: this.metadata(of.org, commandId) });
  }

  private async run(command: DecoderCommand): Promise<void> {
    await this.runner.run(decoderDecider, command.data.connector, command, command.metadata);
  }

  private metadata(org: OrgId, commandId = encodeHex(this.sources.randomness.bytes(16))): CommandMetadata {
    return { org, actor: SYSTEM, requestId: null, commandId, now: timestampOf(this.sources.clock.nowMs()) };
  }
}
