import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  CommandRunner,
  decodeEvent,
  EventStore,
  MissingEvent,
  type CommandMetadata,
  type EventEnvelope,
  type OrgId,
} from '../../kernel/index.js';
import { sealedFileDecider } from '../sealed-file.decider.js';
import type { FileDescription, FileEvent } from '../sealed-file.events.js';

/**
 * Asks for the admin deed `file.sealed`. Returns the event that the deed seals; for a retried command, the event of the
 * first try.
 */
export class SealFile extends Command<EventEnvelope<FileEvent>> {
  constructor(
    readonly data: FileDescription & { readonly org: OrgId },
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

@CommandHandler(SealFile)
export class SealFileHandler implements ICommandHandler<SealFile> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly store: EventStore,
  ) {}

  /** @throws {DomainError} `validation_failed` with `param: label` when the label is not valid */
  async execute({ data, metadata }: SealFile): Promise<EventEnvelope<FileEvent>> {
    const command = { type: 'SealFile', data, metadata } as const;
    const { folded } = await this.runner.run(sealedFileDecider, metadata.commandId, command, metadata);
    // Read from the store, because only the log knows its position for sure.
    const [recorded] = await this.store.readStream(folded.stream, { limit: 1, mayRemember: true });
    if (!recorded) throw new MissingEvent(folded.stream, 0);
    return decodeEvent<FileEvent>(recorded);
  }
}
