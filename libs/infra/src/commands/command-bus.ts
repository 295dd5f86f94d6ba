import { CommandBus, type ICommandHandler } from '@nestjs/cqrs';

type Registered = Parameters<CommandBus['register']>[0];

/**
 * Nest's command bus for a program that has no container of Nest: the command line, the first start, a test. A command is
 * sent there as a route sends it, and the same handler answers.
 */
export const commandBusOf = (handlers: readonly ICommandHandler[]): CommandBus => {
  // The container is asked for handlers of one request alone, and there are none.
  const bus = new CommandBus(undefined as never);
  const wrappers = handlers.map((instance) => ({
    instance,
    metatype: instance.constructor,
    isDependencyTreeStatic: () => true,
  }));
  bus.register(wrappers as unknown as Registered);
  return bus;
};
