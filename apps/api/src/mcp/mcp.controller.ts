import { Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { MCP_HANDSHAKES, MCP_META } from '#libs/domain/kernel';
import { JSON_CONTENT_TYPE } from '../http/error-answers.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route, type RouteOptions } from '../http/route.decorator.js';
import { ChangeStreams } from './change-streams.js';
import { type ClientRequest, clientRequest, REVISIONS, TASKS } from './client-request.js';
import { agentOf, DoorCalls } from './door-calls.js';
import { type Door, DoorTools } from './door-tools.js';
import { DoorWaits } from './door-waits.js';
import { McpOrigins } from './mcp-origins.js';
import { RpcFault } from './rpc-fault.js';
import { isObject, readClientMessage } from './rpc-message.js';
import { faultReply, resultReply } from './rpc-reply.js';
import { AWAIT_DEFINITION } from './served-tool.js';
import { SERVER_INFO } from './tool-answer.js';

const MAX_BODY_BYTES = 1024 * 1024;
/** Longer than any wait, so that the request never times out before its wait ends. */
const TIMEOUT_MS = 60_000;

const DOOR = {
  auth: 'agent_key',
  scopes: ['actions:execute'],
  since: '2026-10-01',
  stop: 'recorded',
  unversioned: true,
  isProtectedResource: true,
  timeoutMs: TIMEOUT_MS,
} as const satisfies RouteOptions;

const MESSAGES = {
  ...DOOR,
  maxBodyBytes: MAX_BODY_BYTES,
  largeBodyAdvice: 'Send less, or send large values by reference.',
  idempotency: 'gate',
  confirms: 'handler',
  rawBody: true,
} as const satisfies RouteOptions;

const CAPABILITIES: JsonObject = { tools: { listChanged: true } };
const INSTRUCTIONS =
  'Every call is judged by a policy, and may wait for a person. When an answer says that a call waits, do not repeat the ' +
  'call: wait for it with service_await_action. When a call is refused, read why before you try anything else.';
/** How long a client may keep what the server says of itself. */
const DISCOVERY_TTL_MS = 3_600_000;

/** The MCP door: tools of one connector, or of all, for clients of the Model Context Protocol over Streamable HTTP. */
@Controller()
export class McpController {
  constructor(
    private readonly calls: DoorCalls,
    private readonly waits: DoorWaits,
    private readonly tools: DoorTools,
    private readonly streams: ChangeStreams,
    private readonly origins: McpOrigins,
  ) {}

  @Post('/mcp')
  @HttpCode(200)
  @Route(MESSAGES)
  async all(@RequestContext() exchange: Exchange, @Res({ passthrough: true }) reply: FastifyReply): Promise<unknown> {
    return this.answer(null, exchange, reply);
  }

  @Post('/mcp/:name')
  @HttpCode(200)
  @Route(MESSAGES)
  async one(
    @Param('name') name: string,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return this.answer(name, exchange, reply);
  }

  /** The stream of a handshake revision on which a client hears of other tools. */
  @Get('/mcp')
  @Route(DOOR)
  async listenToAll(@RequestContext() exchange: Exchange, @Res() reply: FastifyReply): Promise<void> {
    await this.listen(null, exchange, reply);
  }

  @Get('/mcp/:name')
  @Route(DOOR)
  async listenToOne(
    @Param('name') name: string,
    @RequestContext() exchange: Exchange,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.listen(name, exchange, reply);
  }

  private async listen(door: Door, exchange: Exchange, reply: FastifyReply): Promise<void> {
    this.origins.require(exchange);
    await this.streams.begin(exchange, reply, { door, subscription: null, wantsTools: true });
  }

  private async answer(door: Door, exchange: Exchange, reply: FastifyReply): Promise<unknown> {
    this.origins.require(exchange);
    let id: ClientRequest['id'] | null = null;
    try {
      const message = await readClientMessage(exchange.body, MAX_BODY_BYTES);
      if (message.kind === 'notice') {
        reply.code(202);
        return undefined;
      }
      id = message.id;
      const request = clientRequest(message, (name) => exchange.headerValues(name));
      const text = await this.answerTo(request, door, exchange, reply);
      if (text === null) return undefined;
      reply.header('Content-Type', JSON_CONTENT_TYPE);
      return text;
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      reply.code(error.status).header('Content-Type', JSON_CONTENT_TYPE);
      return faultReply(id, error);
    }
  }

  /** The text of the reply; null where it is written as a stream. */
  private async answerTo(
    request: ClientRequest,
    door: Door,
    exchange: Exchange,
    reply: FastifyReply,
  ): Promise<string | null> {
    if (request.method === 'tools/call') {
      const call = await this.calls.call(request, door, exchange);
      if (call.isReplay) reply.header('Service-Idempotent-Replayed', 'true');
      return this.waits.reply(request, call, { exchange, reply });
    }
    await exchange.confirmCaller();
    const caller = agentOf(exchange);
    await this.tools.requireRunning(caller);
    await this.tools.requireDoor(door, caller);
    switch (request.method) {
      case 'initialize':
        return resultReply(request.id, initialized(request));
      case 'server/discover':
        return resultReply(request.id, discovered());
      case 'tools/list':
        return resultReply(request.id, await this.listed(request, door, exchange));
      case 'subscriptions/listen':
        await this.streams.begin(exchange, reply, { door, subscription: request.id, wantsTools: wantsTools(request) });
        return null;
      case 'tasks/get':
        return resultReply(request.id, await this.waits.taskText(request, await this.calls.task(request, exchange)));
      case 'tasks/cancel':
        await this.calls.cancel(request, exchange);
        return resultReply(request.id, complete({}));
      case 'tasks/update':
        await this.calls.task(request, exchange);
        return resultReply(request.id, complete({}));
      default:
        return resultReply(request.id, '{}');
    }
  }

  private async listed({ isModern }: ClientRequest, door: Door, exchange: Exchange): Promise<string> {
    const { tools, ttlMs } = await this.tools.visible(door, agentOf(exchange));
    const described = [...(await this.tools.described(tools)), AWAIT_DEFINITION];
    return isModern
      ? complete({ tools: described, ttlMs, cacheScope: 'private' })
      : JSON.stringify({ tools: described });
  }
}

/** `ping` has an empty result; each result of the modern revision says that it is whole, and whose it is. */
const complete = (members: JsonObject): string =>
  JSON.stringify({ resultType: 'complete', ...members, _meta: { [`${MCP_META}/serverInfo`]: SERVER_INFO } });

/** A client that asks for a revision that is not served gets the newest of its era, and may leave. */
const initialized = ({ params }: ClientRequest): string => {
  const asked = params['protocolVersion'];
  const protocolVersion = MCP_HANDSHAKES.find((version) => version === asked) ?? MCP_HANDSHAKES[0];
  const said = { protocolVersion, capabilities: CAPABILITIES, serverInfo: SERVER_INFO, instructions: INSTRUCTIONS };
  return JSON.stringify(said);
};

const discovered = (): string =>
  complete({
    supportedVersions: [...REVISIONS],
    capabilities: { ...CAPABILITIES, extensions: { [TASKS]: {} } },
    instructions: INSTRUCTIONS,
    ttlMs: DISCOVERY_TTL_MS,
    cacheScope: 'public',
  });

const wantsTools = ({ params }: ClientRequest): boolean => {
  const { notifications } = params;
  return isObject(notifications) && notifications['toolsListChanged'] === true;
};
