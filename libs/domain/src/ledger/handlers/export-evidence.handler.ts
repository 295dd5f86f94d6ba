import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CommandRunner, type CommandMetadata } from '../../kernel/index.js';
import { evidenceExportDecider } from '../evidence-export.decider.js';
import type { ExportedEvidenceRange } from '../evidence-export.events.js';

/** Asks for the admin deed `evidence.exported`. If it cannot be recorded, nothing goes out. */
export class ExportEvidence extends Command<void> {
  constructor(
    readonly data: ExportedEvidenceRange,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

@CommandHandler(ExportEvidence)
export class ExportEvidenceHandler implements ICommandHandler<ExportEvidence> {
  constructor(private readonly runner: CommandRunner) {}

  /** @throws {StoreUnavailable} when the export could not be recorded */
  async execute({ data, metadata }: ExportEvidence): Promise<void> {
    const command = { type: 'ExportEvidence', data, metadata } as const;
    await this.runner.run(evidenceExportDecider, metadata.commandId, command, metadata);
  }
}
