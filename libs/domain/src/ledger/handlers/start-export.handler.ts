import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CommandRunner, type CommandMetadata } from '../../kernel/index.js';
import { exportDecider } from '../export.decider.js';
import type { ExportedRange } from '../export.events.js';

/** Records that an export is about to go out. If it cannot be recorded, nothing goes out. */
export class StartExport extends Command<void> {
  constructor(
    readonly data: ExportedRange,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

@CommandHandler(StartExport)
export class StartExportHandler implements ICommandHandler<StartExport> {
  constructor(private readonly runner: CommandRunner) {}

  /** @throws {StoreUnavailable} when the export could not be recorded */
  async execute({ data, metadata }: StartExport): Promise<void> {
    const command = { type: 'StartExport', data, metadata } as const;
    await this.runner.run(exportDecider, metadata.commandId, command, metadata);
  }
}
