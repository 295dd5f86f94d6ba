import { CommandHandler } from '@nestjs/cqrs';
import { FastifyAdapter } from '@nestjs/platform-fastify';

export const used = [CommandHandler, FastifyAdapter];
