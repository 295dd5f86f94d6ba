import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError, type CommandMetadata, type OrgId } from '../../kernel/index.js';
import { CheckpointMaker, LedgerInconsistent, type NewestCheckpoint } from '../checkpoint-maker.js';

/** Signs the root of the organization's ledger as it is now; where nothing was sealed since, it gives the last one. */
export class MakeCheckpoint extends Command<NewestCheckpoint> {
  constructor(
    readonly org: OrgId,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

@CommandHandler(MakeCheckpoint)
export class MakeCheckpointHandler implements ICommandHandler<MakeCheckpoint> {
  constructor(private readonly maker: CheckpointMaker) {}

  /** @throws {DomainError} `ledger_inconsistent`; `conflict` before the first deed */
  async execute({ org, metadata }: MakeCheckpoint): Promise<NewestCheckpoint> {
    const made = await this.made(org, metadata);
    if (made !== null) return made;
    throw new DomainError('conflict', {
      message: 'The ledger has no deed yet. The first one is sealed in a moment; send the request again.',
    });
  }

  private async made(org: OrgId, metadata: CommandMetadata): Promise<NewestCheckpoint | null> {
    try {
      return await this.maker.make(org, metadata);
    } catch (error) {
      if (!(error instanceof LedgerInconsistent)) throw error;
      throw new DomainError('ledger_inconsistent', { cause: error });
    }
  }
}
