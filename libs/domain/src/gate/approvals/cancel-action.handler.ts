import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { actionChannel, Bus, type ActionId, type CommandMetadata } from '../../kernel/index.js';
import { actionDecider } from '../action/index.js';
import { GateKernel } from '../kernel/index.js';

/** Cancels an action that waits for approval. The sender of the command has checked that the actor may do so. */
export class CancelAction extends Command<void> {
  constructor(
    readonly action: ActionId,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

@CommandHandler(CancelAction)
export class CancelActionHandler implements ICommandHandler<CancelAction> {
  constructor(
    private readonly gate: GateKernel,
    private readonly bus: Bus,
  ) {}

  /** @throws {DomainError} conflict if the action does not wait for approval (any more) */
  async execute({ action, metadata: submitted }: CancelAction): Promise<void> {
    const metadata = { ...submitted, correlation: action };
    const command = { type: 'CancelAction' as const, data: {}, metadata };
    await this.gate.runner.run(actionDecider, action, command, metadata);
    this.bus.publish(actionChannel(action), 'recorded');
  }
}
