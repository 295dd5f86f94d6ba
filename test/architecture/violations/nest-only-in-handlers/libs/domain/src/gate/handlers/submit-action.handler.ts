import { CommandHandler } from '@nestjs/cqrs';

export const used = CommandHandler;
