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
import { NodeCertificates } from './untrusted-node.js';

/** The time limit of one try; a hung server costs this much before the next connection is tried. */
const ATTEMPT_TIMEOUT_MS = 2_000;
const CLOSE_LIMIT_MS = 1_000;
/** The most reads that share one proof that the node leads. */
const MAX_LEAD_CALLERS = 10_000;
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 250;
/** Written only to prove leadership, and never read. Of a metadata stream the server keeps just the last event. */
const LEAD_STREAM = '$$ags-leader';
/** A revision that no stream ever reaches, so that an append which expects it is refused. */
const NO_SUCH_REVISION = BigInt(Number.MAX_SAFE_INTEGER);
/** Longer than a try, which therefore times out first. Without a deadline a hung call would keep the process alive. */
const QUESTION_MS = ATTEMPT_TIMEOUT_MS + 1_000;

export interface KurrentConnectionOptions {
  readonly url: string;
  /** How long a request is repeated while the server does not answer. */
  readonly deadlineMs: number;
  /** Called once when the store becomes unavailable, and once (null) when it is back. */
  readonly onOutage: (error: KurrentUnavailable | null) => void;
  /** Called when the log went back in time: what the process has cached of it is void, and the process must end. */
  readonly onWentBack: (error: LogWentBack) => void;
}

/** The options of every request. */
export interface RequestOptions {
  /** A follower may not have yet what the leader has answered. */
  readonly requiresLeader: true;
  /**
   * Always given, even if the server has no users: the client sends an append with credentials as a call of its own.
   * All other appends share one stream and one table of the whole process, through which a failure reaches the appends
   * of other connections (ADR 0013).
   */
  readonly credentials: Credentials;
  /**
   * Practically unlimited, in milliseconds. A call that ends before its last event was sent looks complete to the
   * server, which then writes a part of the append. So an append that nobody waits for any more still runs to its end.
   */
  readonly deadline: number;
}

type Reading = StreamingRead<ResolvedEvent>;
type StartReading = (client: EventStoreDBClient, options: RequestOptions) => Reading;
/** The check that the log behind a client's connection is the one that this process has read so far. */
interface Proof {
  readonly client: EventStoreDBClient;
  readonly done: Promise<void>;
  /** Proves that the node leads, once for all callers of the same moment. */
  readonly leads: GatheredCalls<null, null>;
}

/** One try of a request within a time limit. It may be repeated, and abandoned while it is still running. */
type Work<Result> = (proof: Proof, limitMs: number) => Promise<Result>;

/** The answer may come from another node than the one that was proved to lead. */
class NodeLeft extends Error {
  override readonly name = 'NodeLeft';
}

/**
 * The process's one client of the event store. A request is repeated until its deadline. A client that got no answer is
 * replaced, together with its connection. After a failure, the next connection is first asked for the last event that
 * this process has seen, to check that it is the same log.
 */
export class KurrentConnection {
  private readonly address;
  private client: Promise<EventStoreDBClient> | null = null;
  private proof: Proof | null = null;
  /** The event with the highest position that this process has seen. */
  private lastSeen: RecordedEvent | null = null;
  /** The reads under way, which `close` ends. */
  private readonly reads = new Set<Reading>();
  private readonly outage: Outage;
  private readonly certificates: NodeCertificates;
  private isClosed = false;

  constructor(private readonly options: KurrentConnectionOptions) {
    this.address = parseKurrentUrl(options.url);
    this.certificates = new NodeCertificates(this.address);
    this.outage = new Outage((error) => {
      if (!this.isClosed) options.onOutage(error);
    });
  }

  /** Notes events that this process has seen. */
  see(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      if (this.lastSeen === null || event.position > this.lastSeen.position) this.lastSeen = event;
    }
  }

  /**
   * @throws {StoreUnavailable} when there is no answer within the deadline: the events may or may not be written
   * @throws the server's own error
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
   * Checks that an append would be accepted, without writing: the append expects a revision that no stream has.
   *
   * @throws {KurrentUnavailable} when the user may not append
   * @throws {StoreUnavailable} when there is no answer within the deadline
   */
  async requireAppends(): Promise<void> {
    const { jsonEvent } = await import('@eventstore/db-client');
    const event = jsonEvent({ type: 'NeverWritten', data: {} });
    // This call may have a deadline, because no part of it can be written.
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
   * Reads to the end of what was asked for. A try is given up if nothing arrives for too long. A cluster may answer
   * with less than another node has answered: a leader that was paused or cut off notices late that it no longer leads.
   *
   * @throws {StoreUnavailable} when there is no answer within the deadline
   * @throws the server's own error
   */
  read(start: StartReading, stream: string): Promise<readonly KurrentEvent[]> {
    return this.repeat(({ client }, limitMs) =>
      this.needing('read', stream, this.collect(start(client, this.requestOptions()), limitMs)),
    );
  }

  /** As `read`, but includes all that any node has answered before: the node that answers has led since the call. */
  readLatest(start: StartReading, stream: string): Promise<readonly KurrentEvent[]> {
    if (!this.address.isCluster) return this.read(start, stream);
    return this.repeat(async (proof, limitMs) => {
      const startedAt = performance.now();
      await within(limitMs, proof.leads.of(null));
      const silenceMs = Math.max(limitMs - (performance.now() - startedAt), 1);
      const collected = this.collect(start(proof.client, this.requestOptions()), silenceMs);
      const [read] = await Promise.allSettled([this.needing('read', stream, collected)]);
      if (read.status === 'rejected' && mayPass(read.reason)) throw read.reason;
      // The client may have connected to another node since the proof.
      if (this.proof !== proof) throw new NodeLeft('another connection was made meanwhile');
      if (read.status === 'rejected') throw read.reason;
      return read.value;
    });
  }

  /** A client for a subscription, after the check that its log is the one that this process knows. */
  async proven(): Promise<EventStoreDBClient> {
    return (await this.proofOfLog()).client;
  }

  /** Makes the next request check first that the log is still the one that this process knows. */
  doubt(): void {
    this.proof = null;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const reading of this.reads) end(reading, new StoreUnavailable('the store was closed'));
    // A client that is still connecting is closed once it is connected.
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
        // If the deadline cut the last try short, its timeout says less than the error of the try before.
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
    // The proof goes on after this timeout: other requests may wait for it too, and it has time limits of its own.
    const proof = await within(Math.max(leftMs(), 1), this.proofOfLog());
    try {
      return await work(proof, Math.max(Math.min(ATTEMPT_TIMEOUT_MS, leftMs()), 1));
    } catch (error) {
      if (mayPass(error)) this.doubt();
      if (isSilence(error)) this.leave(used);
      throw error;
    }
  }

  /** Drops a client that got no answer: its connection to a hung server would stay open. A new one may go elsewhere. */
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
      // Lets the next request try again: by then the file of the certificate authority may exist.
      this.client = null;
      throw error;
    }
  }

  /**
   * Closes the connection without cancelling the requests under way on it, because a cancelled read would look to its
   * caller like one that has come to its end.
   */
  private async drop(): Promise<void> {
    const dropped = this.client;
    this.client = null;
    this.proof = null;
    // A client that could not be made, or has no channel, has nothing to close.
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
   * Proves that the node leads, and so has all that any node has answered: only the leader of a majority can write. An
   * earlier proof is not enough: if connections between nodes break, another may lead 200 ms later.
   */
  private async requireLead(client: EventStoreDBClient): Promise<void> {
    const { jsonEvent } = await import('@eventstore/db-client');
    const event = jsonEvent({ type: '$metadata', data: {} });
    // Any revision will do: nobody reads the event, and its new id makes the server really write it.
    const options = { expectedRevision: 'any', ...this.requestOptions() } as const;
    const shown = within(ATTEMPT_TIMEOUT_MS, client.appendToStream(LEAD_STREAM, [event], options));
    await this.needing('append', LEAD_STREAM, shown);
  }

  /** @param doubt called when the connection is no longer the one that was checked */
  private async prove(client: EventStoreDBClient, doubt: () => void): Promise<void> {
    // The client asks a node which one leads. If that node hangs, the client would wait longer than any deadline here.
    const found = within(ATTEMPT_TIMEOUT_MS, (client as unknown as ConnectedClient).getChannel());
    const channel = await this.certificates.explain(found);
    // Only a connection that is made (or failed) can be checked and then watched for a change.
    const state = await within(ATTEMPT_TIMEOUT_MS, madeOrFailed(channel));
    if (this.lastSeen !== null) await this.compare(client, this.lastSeen);
    // Between two requests the client silently replaces a lost connection, so any change of its state voids the proof.
    channel.watchConnectivityState(state, Infinity, doubt);
  }

  /** @throws {LogWentBack} when the store does not hold the event */
  private async compare(client: EventStoreDBClient, seen: RecordedEvent): Promise<void> {
    if (await this.holds(client, seen)) return;
    if (this.address.isCluster) {
      // A leader that was cut off lacks what its successor wrote and still answers: the node must prove that it leads.
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
    // The stream may emit another error after the loop has ended, which would crash the process.
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

  /** Tells `outage` whether the user has a right: any answer but a refusal shows that it has. */
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
/** For a URL without a user, which has no TLS: the client then does not send it. */
const NOBODY: Credentials = { username: 'nobody', password: 'nobody' };
