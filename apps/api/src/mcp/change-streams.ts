import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { Bus, Clock, DomainError, MCP_META, orgChannel, Turns } from '#libs/domain/kernel';
import type { EventFeed } from '../events/event-feed.js';
import { EventFilter } from '../events/event-filter.js';
import { EventReader } from '../events/event-reader.js';
import { OpenStreams } from '../events/open-streams.js';
import type { Exchange } from '../http/exchange.js';
import { type Door, digestOfTools, DoorTools } from './door-tools.js';
import { agentOf } from './door-calls.js';
import type { RpcId } from './rpc-fault.js';
import { notification, resultReply } from './rpc-reply.js';
import { SseAnswer } from './sse-answer.js';

const HEARTBEAT_MS = 15_000;
const LIFE_MS = 1_800_000;
/** A list is made anew at most this often for an agent and a door, however many bells ring. */
const LOOK_MS = 1_000;
/** And this often where no bell rings: what a server changed rings none of ours. */
const QUIET_LOOK_MS = 30_000;

/** Of the feed's events none is told here. */
const NOTHING = new EventFilter(null, new Set(), null);
const ignore = (): void => undefined;

/** `notifications/tools/list_changed` under the id of what the client subscribed with; null for a stream of a GET. */
const changedOf = (subscription: RpcId | null): string =>
  notification('notifications/tools/list_changed', subscription === null ? {} : { _meta: metaOf(subscription) });

const metaOf = (subscription: RpcId): JsonObject => ({ [`${MCP_META}/subscriptionId`]: subscription });

/** The streams on which clients hear that the tools that they see are other ones. */
@Injectable()
export class ChangeStreams implements OnApplicationShutdown {
  private readonly turns = new Turns();
  private readonly open = new Set<OpenChangeStream>();

  constructor(
    private readonly tools: DoorTools,
    private readonly limits: OpenStreams,
    private readonly events: EventReader,
    private readonly bus: Bus,
    private readonly clock: Clock,
  ) {}

  /**
   * Begins the answer, and goes on with it by itself.
   * @param subscription the id of the request `subscriptions/listen`; null for a GET of a handshake revision
   * @throws {DomainError} rate_limited, not_found, the code of a Stop: nothing was written
   */
  async begin(
    exchange: Exchange,
    reply: FastifyReply,
    {
      door,
      subscription,
      wantsTools,
    }: {
      readonly door: Door;
      readonly subscription: RpcId | null;
      readonly wantsTools: boolean;
    },
  ): Promise<void> {
    await exchange.confirmCaller();
    const caller = agentOf(exchange);
    // The head of a GET without its body: nothing is opened for it.
    if (exchange.request.method === 'HEAD') return void SseAnswer.begin(exchange, reply);
    const leave = this.limits.take(caller);
    let answer: SseAnswer | null = null;
    try {
      const feed = await this.events.feedOf(caller.org);
      const first = digestOfTools(await this.tools.visible(door, caller));
      answer = SseAnswer.begin(exchange, reply);
      answer.onClose(leave);
      if (subscription !== null) answer.send(acknowledged(subscription, wantsTools));
      const look = async () => {
        await this.turns.next();
        return digestOfTools(await this.tools.visible(door, caller));
      };
      const stream = new OpenChangeStream(answer, { subscription, wantsTools, look, clock: this.clock }, first);
      this.follow(exchange, stream, answer, feed);
    } catch (error) {
      if (answer === null) leave();
      throw error;
    }
  }

  /**
   * Signs of other tools are the organization's bell, which a Stop rings, and its admin deeds: each change of a policy, a
   * connector or a list of tools seals one, whichever process made it.
   */
  private follow(exchange: Exchange, stream: OpenChangeStream, answer: SseAnswer, feed: EventFeed): void {
    const judge = (): void => void stream.lookAgain(() => exchange.stillAllowed());
    const unsubscribe = this.bus.subscribe(orgChannel(exchange.caller.org), judge);
    const leaveFeed = feed.join({ filter: NOTHING, offer: ignore, passOver: ignore, doubt: judge, resync: judge });
    const timer = setInterval(() => stream.tick(judge), LOOK_MS);
    const end = (): void => stream.end();
    exchange.waitingOver.addEventListener('abort', end);
    this.open.add(stream);
    answer.onClose(() => {
      clearInterval(timer);
      unsubscribe();
      leaveFeed(this.clock.monotonicMs());
      exchange.waitingOver.removeEventListener('abort', end);
      this.open.delete(stream);
    });
    if (exchange.waitingOver.aborted) end();
  }

  onApplicationShutdown(): void {
    for (const stream of this.open) stream.end();
  }
}

const acknowledged = (subscription: RpcId, wantsTools: boolean): string =>
  notification('notifications/subscriptions/acknowledged', {
    _meta: metaOf(subscription),
    notifications: wantsTools ? { toolsListChanged: true } : {},
  });

interface StreamTerms {
  readonly subscription: RpcId | null;
  readonly wantsTools: boolean;
  readonly look: () => Promise<string>;
  readonly clock: Clock;
}

class OpenChangeStream {
  private readonly openedAtMs: number;
  private lookedAtMs: number;
  private writtenAtMs: number;
  private isLooking = false;
  private mustLook = false;

  constructor(
    private readonly answer: SseAnswer,
    private readonly terms: StreamTerms,
    private told: string,
  ) {
    this.openedAtMs = terms.clock.monotonicMs();
    this.lookedAtMs = this.openedAtMs;
    this.writtenAtMs = this.openedAtMs;
  }

  /** Once a second: heartbeats, the end of its time, and looks that were too early when their bell rang. */
  tick(judge: () => void): void {
    const nowMs = this.terms.clock.monotonicMs();
    if (this.answer.isOver) return;
    if (nowMs - this.openedAtMs >= LIFE_MS) return this.end();
    if (this.mustLook || nowMs - this.lookedAtMs >= QUIET_LOOK_MS) judge();
    // A reader that takes nothing is told nothing more: the connection ends by the server's time for silent ones.
    if (nowMs - this.writtenAtMs >= HEARTBEAT_MS && !this.answer.isBlocked) this.write(() => this.answer.ping());
  }

  /** The credential first: an ended one ends the stream, as a Stop does. A store that is away says nothing of either. */
  async lookAgain(stillAllowed: () => Promise<void>): Promise<void> {
    const nowMs = this.terms.clock.monotonicMs();
    if (this.answer.isOver) return;
    if (this.isLooking || nowMs - this.lookedAtMs < LOOK_MS) {
      this.mustLook = true;
      return;
    }
    this.isLooking = true;
    this.mustLook = false;
    this.lookedAtMs = nowMs;
    try {
      await stillAllowed();
      const seen = await this.terms.look();
      if (seen !== this.told && this.terms.wantsTools && !this.answer.isOver) {
        this.told = seen;
        this.write(() => this.answer.send(changedOf(this.terms.subscription)));
      }
    } catch (error) {
      if (error instanceof DomainError) this.end();
    } finally {
      this.isLooking = false;
    }
  }

  /** The client comes again; a result says that the subscription ended in order (revision 2026-07-28, Graceful Closure). */
  end(): void {
    if (this.answer.isOver) return;
    const { subscription } = this.terms;
    if (subscription !== null) {
      const result = JSON.stringify({ resultType: 'complete', _meta: metaOf(subscription) });
      this.answer.send(resultReply(subscription, result));
    }
    this.answer.end();
  }

  private write(say: () => void): void {
    say();
    this.writtenAtMs = this.terms.clock.monotonicMs();
  }
}
