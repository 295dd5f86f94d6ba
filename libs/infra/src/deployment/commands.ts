import type { CommandBus } from '@nestjs/cqrs';
import type { AgentKernel } from '#libs/domain/agents';
import { AGENT_HANDLERS, ORGANIZATION_HANDLERS } from '#libs/domain/agents/handlers';
import type { Members } from '#libs/domain/people';
import { MEMBER_HANDLERS } from '#libs/domain/people/handlers';
import { commandBusOf } from '../commands/index.js';

/** What an operator and the first start change of organizations, their members and their agents. */
export const administrationBus = (agents: AgentKernel, members: Members): CommandBus =>
  commandBusOf([
    ...[...AGENT_HANDLERS, ...ORGANIZATION_HANDLERS].map((Handler) => new Handler(agents)),
    ...MEMBER_HANDLERS.map((Handler) => new Handler(members)),
  ]);
