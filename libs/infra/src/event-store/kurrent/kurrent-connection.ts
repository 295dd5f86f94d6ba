import { setTimeout as delay } from 'node:timers/promises';
import type {
  AppendExpectedRevision,
  AppendResult,
  Credentials,
  EventData,
  EventStoreDBClient,
  RecordedEvent as KurrentEvent,
  ResolvedEvent,
  StreamingRead,
} from '@eventstore/db-client';
import { type RecordedEvent, StoreUnavailable } from '#libs/domain/kernel';
import { parseKurrentUrl } from '../../config/index.js';
import { GatheredCalls } from '../../runtime/index.js';
import { LogWentBack } from '../log-went-back.js';
import { STORE_STREAM } from '../store-id.js';
import { type ConnectedClient, end, madeOrFailed } from './channel.js';
import {
  failureOf,
  isDeletedStream,
  isMissingStream,
  isWrongRevision,
  isSilence,
  KurrentUnavailable,
  mayPass,
  MissingRight,
  NoAnswer,
  type Right,
  unavailable,
  within,
} from './kurrent-failures.js';
import { Outage } from './outage.js';
import { positionOf } from './recorded-text.js';
import { untrustedNode } from './untrusted-node.js';

/** One try of a request; a hung server costs this much before the next connection is tried. */
const ATTEMPT_TIMEOUT_MS = 2_000;
const CLOSE_LIMIT_MS = 1_000;
/** Questions that share one proof of who leads. */
const MAX_LEAD_CALLERS = 10_000;
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 250;
/** Nobody reads it. What is written to the metadata of a stream is the server's own, and only the last of it is kept. */
const LEAD_STREAM = '$$ags-leader';
/** Beyond every event that there will ever be: what is appended after it is refused. */
const NO_SUCH_REVISION = BigInt(Number.MAX_SAFE_INTEGER);
/** Beyond any limit, so that a server that hangs is told by that: a call without an end keeps its process from ending. */
const QUESTION_MS = ATTEMPT_TIMEOUT_MS + 1_000;

export interface KurrentConnectionOptions {
  readonly url: string;
  /** How long a request is tried while the server does not answer. */
  readonly deadlineMs: number;
  /** Told once when the store is away, and once (null) when it is back. */
  readonly onOutage: (error: KurrentUnavailable | null) => void;
  /** Told that the log went back in time: all that the process remembers of it is void, and it must end. */
  readonly onWentBack: (error: LogWentBack) => void;
}

/** What every request says of itself. */
export interface RequestOptions {
  /** A follower may not know yet what was answered. */
  readonly requiresLeader: true;
  /**
   * Always given, also where the server knows no users: an append with credentials of its own is a call of its own. The
   * others share one stream and, in the client's memory, one table for the whole process, whose failures reach appends of
   * other connections (ADR 0013).
   */
  readonly credentials: Credentials;
  /**
   * None, in milliseconds. An append goes out an event at a time, and a call that ends before its last event looks complete
   * to the server, which writes what it got: an append that nobody waits for any more is left to come to its end.
   */
  readonly deadline: number;
}

type Reading = StreamingRead<ResolvedEvent>;
type StartReading = (client: EventStoreDBClient, options: RequestOptions) => Reading;
/** That the log behind a client's connection is the one that this process knows. */
interface Proof {
  readonly client: EventStoreDBClient;
  readonly done: Promise<void>;
  /** That its node leads, for all who ask at the same moment. */
  readonly leads: GatheredCalls<null, null>;
}

/** One try of a request, which takes no longer than the limit: it may be made several times, and abandoned. */
type Work<Result> = (proof: Proof, limitMs: number) => Promise<Result>;

/** The node that answered may not be the one that led. */
class NodeLeft extends Error {
  override readonly name = 'NodeLeft';
}

/**
 * The process's one client of the event store. Requests are repeated until their deadline; a client that got no answer is
 * replaced, with its connection; and whatever connection comes after a failure is asked first for the last event that this
 * process has seen.
 */
export class KurrentConnection {
  private readonly address;
  private client: Promise<EventStoreDBClient> | null = null;
  private proof: Proof | null = null;
  /** Of all events that this process has seen, the last of the log. */
  private lastSeen: RecordedEvent | null = null;
  /** Reads under way. */
  private readonly reads = new Set<Reading>();
  private readonly outage: Outage;
  private isClosed = false;

  constructor(private readonly options: KurrentConnectionOptions) {
    this.address = parseKurrentUrl(options.url);
    this.outage = new Outage((error) => {
      if (!this.isClosed) options.onOutage(error);
    });
  }

  /** Notes what this process has seen of the log. */
  see(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      if (this.lastSeen === null || event.position > this.lastSeen.position) this.lastSeen = event;
    }
  }

  /**
   * @throws {StoreUnavailable} no answer within the deadline: it may or may not have been written
   * @throws what the server answered
   */
  append(stream: string, events: EventData[], expectedRevision: AppendExpectedRevision): Promise<AppendResult> {
    return this.repeat(({ client }, limitMs) =>
      this.needing(
        'append',
        stream,
        within(limitMs, client.appendToStream(stream, events, { expectedRevision, ...this.requestOptions() })),
      ),
    );
  }

  /**
   * That an append would be taken, without one: it is meant for a revision that no stream has.
   *
   * @throws {KurrentUnavailable} the user may not append
   * @throws {StoreUnavailable} no answer within the deadline
   */
  async requireAppends(): Promise<void> {
    const { jsonEvent } = await import('@eventstore/db-client');
    const event = jsonEvent({ type: 'NeverWritten', data: {} });
    // It may end before its time: nothing of it could be written.
    const options = { expectedRevision: NO_SUCH_REVISION, ...this.requestOptions(), deadline: QUESTION_MS } as const;
    const missing = await this.repeat(async ({ client }, limitMs) => {
      const answer = within(limitMs, client.appendToStream(STORE_STREAM, [event], options));
      return this.needing('append', STORE_STREAM, answer).then(
        () => null,
        (error: unknown) => {
          if (error instanceof MissingRight) return error;
          if (isWrongRevision(error)) return null;
          throw error;
        },
      );
    });
    if (missing) throw new KurrentUnavailable(missing);
  }

  /**
   * Reads to the end of what was asked for. A try in which nothing comes for too long is given up. Of a cluster, it may tell
   * less than what another node has answered: a leader that was paused, or cut off, learns late that it leads no more.
   *
   * @throws {StoreUnavailable} no answer within the deadline
   * @throws what the server answered
   */
  read(start: StartReading, stream: string): Promise<readonly KurrentEvent[]> {
    return this.repeat(({ client }, limitMs) =>
      this.needing('read', stream, this.collect(start(client, this.requestOptions()), limitMs)),
    );
  }

  /** As `read`, and nothing is missing that any node had answered before: the node that answers has led since. */
  readLatest(start: StartReading, stream: string): Promise<readonly KurrentEvent[]> {
    if (!this.address.isCluster) return this.read(start, stream);
    return this.repeat(async (proof, limitMs) => {
      const startedAt = performance.now();
      await within(limitMs, proof.leads.of(null));
      const silenceMs = Math.max(limitMs - (performance.now() - startedAt), 1);
      const collected = this.collect(start(proof.client, this.requestOptions()), silenceMs);
      const [read] = await Promise.allSettled([this.needing('read', stream, collected)]);
      if (read.status === 'rejected' && mayPass(read.reason)) throw read.reason;
      // The client may have connected elsewhere meanwhile.
      if (this.proof !== proof) throw new NodeLeft('another connection was made meanwhile');
      if (read.status === 'rejected') throw read.reason;
      return read.value;
    });
  }

  /** For a stream of events that has no end. Proven: the log is the one that this process knows. */
  async proven(): Promise<EventStoreDBClient> {
    return (await this.proofOfLog()).client;
  }

  /** The next request asks first whether the log is still the one that this process knows. */
  doubt(): void {
    this.proof = null;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const reading of this.reads) end(reading, new StoreUnavailable('the store was closed'));
    // One that is still being made is let go once it is there.
    await within(CLOSE_LIMIT_MS, this.drop()).catch(() => undefined);
  }

  private async repeat<Result>(work: Work<Result>): Promise<Result> {
    const startedAt = performance.now();
    const leftMs = (): number => this.options.deadlineMs - (performance.now() - startedAt);
    let said: unknown = null;
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
      const isWholeTry = leftMs() >= ATTEMPT_TIMEOUT_MS;
      try {
        return await this.attempt(work, leftMs);
      } catch (error) {
        if (error instanceof LogWentBack || !mayPass(error)) throw error;
        // A last try that was cut short says less than the one before it.
        const isNews = said === null || !isSilence(error) || isWholeTry;
        if (isNews && !(error instanceof NodeLeft || error instanceof MissingRight)) this.outage.away(error);
        if (isNews) said = error;
        if (leftMs() <= waitMs || this.isClosed) throw unavailable(said);
      }
      await delay(waitMs);
    }
  }

  private async attempt<Result>(work: Work<Result>, leftMs: () => number): Promise<Result> {
    const used = this.current();
    // Others may wait for the same proof and have more time: it goes on, with time limits of its own.
    const proof = await within(Math.max(leftMs(), 1), this.proofOfLog());
    try {
      return await work(proof, Math.max(Math.min(ATTEMPT_TIMEOUT_MS, leftMs()), 1));
    } catch (error) {
      if (mayPass(error)) this.doubt();
      if (isSilence(error)) this.leave(used);
      throw error;
    }
  }

  /** A connection to a server that hangs stays as it is: another one may lead elsewhere. */
  private leave(used: Promise<EventStoreDBClient>): void {
    if (this.client === used) void this.drop();
  }

  private requestOptions(): RequestOptions {
    return { requiresLeader: true, credentials: this.address.credentials ?? NOBODY, deadline: NEVER_MS };
  }

  private current(): Promise<EventStoreDBClient> {
    if (this.isClosed) throw new StoreUnavailable('the store was closed');
    return (this.client ??= this.connect());
  }

  private async connect(): Promise<EventStoreDBClient> {
    const { EventStoreDBClient } = await import('@eventstore/db-client');
    try {
      return EventStoreDBClient.connectionString(this.address.connectionString);
    } catch (error) {
      // Another try, when the file of its authority is there.
      this.client = null;
      throw error;
    }
  }

  /**
   * Lets the connection go. Nothing that is under way on it is cancelled: to whoever reads, a read that was cancelled looks
   * like one that has come to its end.
   */
  private async drop(): Promise<void> {
    const dropped = this.client;
    this.client = null;
    this.proof = null;
    // One that was never made, or has no connection, has nothing to let go of.
    const client = await dropped?.catch(() => null);
    const channel = await (client as unknown as ConnectedClient | null)?.getChannel().catch(() => null);
    channel?.close();
  }

  private async proofOfLog(): Promise<Proof> {
    const used = this.current();
    const client = await used;
    if (this.proof?.client !== client) this.proof = this.beginProof(client, used);
    const { proof } = this;
    await proof.done;
    return proof;
  }

  private beginProof(client: EventStoreDBClient, used: Promise<EventStoreDBClient>): Proof {
    const doubt = (): void => {
      if (this.proof === proof) this.proof = null;
    };
    const leads = new GatheredCalls<null, null>(
      async (asked) => {
        await this.requireLead(client);
        return asked;
      },
      { maxItems: MAX_LEAD_CALLERS },
    );
    const proof: Proof = { client, done: this.prove(client, doubt), leads };
    proof.done.catch((error: unknown) => {
      doubt();
      if (isSilence(error)) this.leave(used);
    });
    return proof;
  }

  /**
   * The node leads, and holds whatever any node has answered before: only the leader of a majority can write, so it is made
   * to. That it did a moment ago says nothing: where connections between nodes break, another may lead 200 ms later.
   */
  private async requireLead(client: EventStoreDBClient): Promise<void> {
    const { jsonEvent } = await import('@eventstore/db-client');
    const event = jsonEvent({ type: '$metadata', data: {} });
    // Its revision says nothing: nobody reads it, and each is an event of its own.
    const options = { expectedRevision: 'any', ...this.requestOptions() } as const;
    const shown = within(ATTEMPT_TIMEOUT_MS, client.appendToStream(LEAD_STREAM, [event], options));
    await this.needing('append', LEAD_STREAM, shown);
  }

  /** @param doubt called when the connection is no longer the one that was asked */
  private async prove(client: EventStoreDBClient, doubt: () => void): Promise<void> {
    // A node that is asked who leads, and hangs, would be waited for longer than anybody's deadline.
    const found = within(ATTEMPT_TIMEOUT_MS, (client as unknown as ConnectedClient).getChannel());
    const channel = await found.catch(async (error: unknown) => {
      throw (await untrustedNode(this.address)) ?? error;
    });
    // One that is only being made would be another once it is there.
    const state = await within(ATTEMPT_TIMEOUT_MS, madeOrFailed(channel));
    if (this.lastSeen !== null) await this.compare(client, this.lastSeen);
    // Between two requests it is lost and made anew without a word.
    channel.watchConnectivityState(state, Infinity, doubt);
  }

  /** @throws {LogWentBack} */
  private async compare(client: EventStoreDBClient, seen: RecordedEvent): Promise<void> {
    if (await this.holds(client, seen)) return;
    if (this.address.isCluster) {
      // A leader that was cut off holds nothing of what its successor wrote, and answers as before until it notices.
      await this.requireLead(client);
      if (await this.holds(client, seen)) return;
    }
    const error = new LogWentBack('event store', seen.position);
    this.options.onWentBack(error);
    throw error;
  }

  private async holds(client: EventStoreDBClient, seen: RecordedEvent): Promise<boolean> {
    const fromRevision = BigInt(seen.revision);
    const reading = client.readStream(seen.stream, { fromRevision, maxCount: 1, ...this.requestOptions() });
    const answer = this.needing('read', seen.stream, this.collect(reading, ATTEMPT_TIMEOUT_MS));
    const [event] = await answer.catch((error: unknown) => {
      if (isMissingStream(error) || isDeletedStream(error)) return [];
      throw error;
    });
    return event !== undefined && event.id === seen.id && positionOf(event) === seen.position;
  }

  private async collect(reading: Reading, silenceMs: number): Promise<readonly KurrentEvent[]> {
    // It may fail once more after nobody listens.
    reading.on('error', () => undefined);
    this.reads.add(reading);
    const timer = setTimeout(
      () => end(reading, new NoAnswer(`nothing was sent for ${Math.round(silenceMs)} ms`)),
      silenceMs,
    );
    try {
      const events: KurrentEvent[] = [];
      for await (const { event } of reading) {
        timer.refresh();
        if (event) events.push(event);
      }
      return events;
    } finally {
      clearTimeout(timer);
      this.reads.delete(reading);
    }
  }

  /** Every answer but a refusal shows that the user has the right that was needed. */
  private async needing<Result>(right: Right, stream: string, answer: Promise<Result>): Promise<Result> {
    try {
      const result = await answer;
      this.outage.answered(right, stream);
      return result;
    } catch (error) {
      const failure = failureOf(error, right, stream);
      if (failure instanceof MissingRight) this.outage.refused(failure);
      else if (!mayPass(error)) this.outage.answered(right, stream);
      throw failure;
    }
  }
}

const NEVER_MS = 365 * 24 * 60 * 60 * 1000;
/** A server without TLS is sent no user: the client leaves it out. */
const NOBODY: Credentials = { username: 'nobody', password: 'nobody' };
