import { type Bus, type Clock, DomainError, orgChannel, timestampOf, userChannel } from '#libs/domain/kernel';
import type { FastifyReply } from 'fastify';
import type { Exchange } from '../http/exchange.js';
import { StreamedAnswer } from '../http/streamed-answer.js';
import type { EventCursor } from './event-cursor.js';
import type { EventFeed, FedEvent } from './event-feed.js';
import type { EventFilter } from './event-filter.js';
import type { EventReader } from './event-reader.js';
import { EventStream, HEARTBEAT_S } from './event-stream.js';
import { JoinedFrames } from './joined-frames.js';
import { OpenStreams } from './open-streams.js';
import { frameOf, resyncFrame, RETRY, type ResyncReason } from './sse-frames.js';

/** Every stream is written to at most this often: a write costs as much as telling twenty events. */
const TICK_MS = 50;

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // For nginx and its kin, which would keep events until their buffer is full.
  'X-Accel-Buffering': 'no',
};

export interface StreamRequest {
  readonly filter: EventFilter;
  /** Null for a client that comes for the first time. */
  readonly cursor: EventCursor | null;
}

/** What a client that comes back is told. */
interface Resumption {
  readonly events: readonly FedEvent[];
  readonly resync: ResyncReason | null;
}

/** The open streams of this process: opens them, writes to them, judges their credentials again, and lets them end. */
export class EventStreams {
  /** Each with what judges its credential again. */
  private readonly open = new Map<EventStream, () => void>();
  private ticking: NodeJS.Timeout | null = null;

  constructor(
    private readonly reader: EventReader,
    private readonly bus: Bus,
    private readonly clock: Clock,
    private readonly limits: OpenStreams = new OpenStreams(),
  ) {}

  /**
   * Begins the answer, and goes on with it by itself.
   * @throws {DomainError} rate_limited, service_unavailable, or what has become of the caller meanwhile
   * @throws {StoreUnavailable} nothing was written
   */
  async begin(exchange: Exchange, reply: FastifyReply, { filter, cursor }: StreamRequest): Promise<void> {
    // The head of a GET without its body: nothing is opened for it.
    if (exchange.request.method === 'HEAD') return void StreamedAnswer.begin(exchange, reply, HEADERS);
    const leave = this.limits.take(exchange.caller);
    let answer: StreamedAnswer | null = null;
    try {
      await exchange.stillAllowedIfOld();
      const feed = await this.reader.feedOf(exchange.caller.org);
      answer = StreamedAnswer.begin(exchange, reply, HEADERS);
      answer.onClose(leave);
      this.follow(exchange, new EventStream(filter, answer, this.clock.monotonicMs()), feed, cursor, answer);
    } catch (error) {
      if (answer === null) leave();
      throw error;
    }
  }

  /** Nothing is awaited from here on to where it listens: no event falls between what is repeated and what is new. */
  private follow(
    exchange: Exchange,
    stream: EventStream,
    feed: EventFeed,
    cursor: EventCursor | null,
    answer: StreamedAnswer,
  ): void {
    const resumed = cursor && this.resume(feed, cursor);
    stream.say(RETRY);
    const isResumed = resumed !== null && resumed.resync === null;
    // Whoever breaks off before the first event comes back to here.
    const place = isResumed && cursor ? cursor.seq : feed.last;
    stream.say(frameOf('hello', this.hello(exchange, isResumed), `${this.reader.instance}.${place}`));
    if (resumed?.resync) stream.say(resyncFrame(resumed.resync));
    for (const event of resumed?.events ?? []) if (stream.filter.shows(event.event)) stream.offer(event);
    const leaveFeed = feed.join(stream);
    stream.tick(this.clock.monotonicMs());
    const judgeAgain = (): void => void this.judgeAgain(exchange, stream);
    const unsubscribe = signsOf(exchange).map((channel) => this.bus.subscribe(channel, judgeAgain));
    const end = (): void => stream.end();
    exchange.waitingOver.addEventListener('abort', end);
    this.add(stream, judgeAgain);
    answer.onClose(() => {
      exchange.waitingOver.removeEventListener('abort', end);
      for (const leave of unsubscribe) leave();
      leaveFeed(this.clock.monotonicMs());
      this.remove(stream);
    });
    // What ended the credential before anybody listened for it, and a drain that began by then.
    judgeAgain();
    if (exchange.waitingOver.aborted) stream.end();
  }

  private resume(feed: EventFeed, { instance, seq }: EventCursor): Resumption {
    if (instance !== this.reader.instance) return { events: [], resync: 'other_instance' };
    const events = feed.behind(seq, this.clock.monotonicMs());
    return events === null ? { events: [], resync: 'cursor_expired' } : { events, resync: null };
  }

  private hello({ caller }: Exchange, isResumed: boolean) {
    return {
      object: 'stream',
      org: caller.org,
      instance: this.reader.instance,
      resumed: isResumed,
      heartbeat_s: HEARTBEAT_S,
      server_time: timestampOf(this.clock.nowMs()),
    };
  }

  /** A store that does not answer says nothing of the credential: it is asked again at the next sign, or in a minute. */
  private async judgeAgain(exchange: Exchange, stream: EventStream): Promise<void> {
    if (stream.isOver) return;
    try {
      await exchange.stillAllowed();
    } catch (error) {
      if (error instanceof DomainError) stream.endSession(error.code, error.message);
    }
  }

  private add(stream: EventStream, judgeAgain: () => void): void {
    this.open.set(stream, judgeAgain);
    this.ticking ??= setInterval(() => this.tick(), TICK_MS);
  }

  private remove(stream: EventStream): void {
    this.open.delete(stream);
    if (this.open.size > 0 || this.ticking === null) return;
    clearInterval(this.ticking);
    this.ticking = null;
  }

  private tick(): void {
    const nowMs = this.clock.monotonicMs();
    const joined = new JoinedFrames();
    for (const [stream, judgeAgain] of this.open) {
      stream.tick(nowMs, joined);
      if (stream.isCheckDue(nowMs)) judgeAgain();
    }
  }
}

/** Where bells ring when the credential of a caller may have ended. */
const signsOf = ({ caller }: Exchange): readonly string[] =>
  caller.kind === 'person' ? [orgChannel(caller.org), userChannel(caller.user)] : [orgChannel(caller.org)];
