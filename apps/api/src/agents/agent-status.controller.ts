import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { ResumeAgent, StopAgent, SuspendAgent } from '#libs/domain/agents/handlers';
import { CHANGE } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { AgentAnswers } from './agent-answers.js';
import { AgentStatusBody } from './agent.dto.js';

/** The brake on one agent. It holds for every call that starts after the answer, and ends waits within 2 seconds. */
@Controller('v1/agents/:id')
export class AgentStatusController {
  constructor(
    private readonly commands: CommandBus,
    private readonly answers: AgentAnswers,
  ) {}

  @Post('stop')
  @HttpCode(200)
  @Route(CHANGE)
  stop(
    @Param('id') id: string,
    @Body() body: AgentStatusBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    return this.change(StopAgent, id, body, exchange);
  }

  /** Only a resume of this agent lifts it: starting all agents of the organization does not. */
  @Post('suspend')
  @HttpCode(200)
  @Route(CHANGE)
  suspend(
    @Param('id') id: string,
    @Body() body: AgentStatusBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    return this.change(SuspendAgent, id, body, exchange);
  }

  @Post('resume')
  @HttpCode(200)
  @Route(CHANGE)
  resume(
    @Param('id') id: string,
    @Body() body: AgentStatusBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    return this.change(ResumeAgent, id, body, exchange);
  }

  private async change(
    Change: typeof StopAgent | typeof SuspendAgent | typeof ResumeAgent,
    id: string,
    { reason }: AgentStatusBody,
    exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const { org, agent } = await this.answers.find(exchange.caller.org, id);
    const change = await this.commands.execute(new Change(org, agent, reason ?? null, metadata));
    return this.answers.changed(change.agent, metadata);
  }
}
