import type { CommandMetadata, ConnectorId, OrgId } from '../kernel/index.js';
import type { AttachedLog, DecoderAlert, DecoderReason } from './decoder.events.js';

/** The decoder of one connector. */
export interface DecoderAddress {
  readonly org: OrgId;
  readonly connector: ConnectorId;
  readonly name: string;
}

type Command<Type extends string, Data = unknown> = {
  readonly type: Type;
  readonly data: DecoderAddress & Data;
  readonly metadata: CommandMetadata;
};

export type DecoderCommand =
  | Command<'AttachDecoder', AttachedLog>
  | Command<'DetachDecoder', { readonly slot: string }>
  /** Null: nothing is wrong. */
  | Command<'ReportHealth', { readonly reason: DecoderReason | null; readonly lag_bytes?: number }>
  | Command<'ReportAlert', DecoderAlert>;
