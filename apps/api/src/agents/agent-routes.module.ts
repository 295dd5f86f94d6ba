import { Module } from '@nestjs/common';
import { AGENT_HANDLERS } from '#libs/domain/agents/handlers';
import { LedgerModule } from '../ledger/ledger.module.js';
import { ListAnswers } from '../lists/list-answers.js';
import { AgentAnswers } from './agent-answers.js';
import { AgentKeysController } from './agent-keys.controller.js';
import { AgentOwners } from './agent-owners.js';
import { AgentStatusController } from './agent-status.controller.js';
import { AgentsController } from './agents.controller.js';
import { IntentKeysController } from './intent-keys.controller.js';
import { ListAgentKeysHandler, ListIntentKeysHandler } from './list-agent-keys.query-handler.js';
import { AgentUsage } from './agent-usage.js';
import { ListAgentsHandler } from './list-agents.query-handler.js';

/** The control plane of agents. Apart from AgentsModule, which the edge itself stands on: it tells who is calling. */
@Module({
  imports: [LedgerModule],
  controllers: [AgentsController, AgentStatusController, AgentKeysController, IntentKeysController],
  providers: [
    ...AGENT_HANDLERS,
    AgentAnswers,
    AgentOwners,
    AgentUsage,
    ListAnswers,
    ListAgentsHandler,
    ListAgentKeysHandler,
    ListIntentKeysHandler,
  ],
  exports: [AgentUsage],
})
export class AgentRoutesModule {}
