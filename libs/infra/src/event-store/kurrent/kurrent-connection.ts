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
import { LogWentBack } from '../log-went-back.js';
import { isDeletedStream, isMissingStream, KurrentUnavailable, mayPass } from './kurrent-failures.js';
import { positionOf } from './recorded-text.js';

/** One try of a request; a hung server costs this much before the next connection is tried. */
const ATTEMPT_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 250;

export interface KurrentConnectionOptions {
  readonly url: string;
  /** How long a request is tried while the server does not answer. */
  readonly deadlineMs: number;
  /** Told once when the store is away, and once (null) when it is back. */
  readonly onOutage: (error: Error | null) => void;
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
/** That the log behind a client's connection is the one that this process knows. */
interface Proof {
  readonly client: EventStoreDBClient;
  readonly done: Promise<void>;
}

/** One try of a request, which takes no longer than the limit: it may be made several times, and abandoned. */
type Work<Result> = (client: EventStoreDBClient, limitMs: number) => Promise<Result>;

/** What the client has, and does not show: its connection, as its gRPC library knows it. */
interface ConnectedClient {
  readonly getChannel: () => Promise<{
    close(): void;
    getConnectivityState(mayConnect: boolean): number;
    watchConnectivityState(current: number, deadline: number, onChange: () => void): void;
  }>;
}

/** The server sent nothing for too long, or has not answered at all. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
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
  private isAway = false;
  private isClosed = false;

  constructor(private readonly options: KurrentConnectionOptions) {
    this.address = parseKurrentUrl(options.url);
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
    return this.repeat((client, limitMs) =>
      within(limitMs, client.appendToStream(stream, events, { expectedRevision, ...this.requestOptions() })),
    );
  }

  /**
   * Reads to the end of what was asked for. A try in which nothing comes for too long is given up.
   *
   * @throws {StoreUnavailable} no answer within the deadline
   * @throws what the server answered
   */
  read(start: (client: EventStoreDBClient, options: RequestOptions) => Reading): Promise<readonly KurrentEvent[]> {
    return this.repeat((client, limitMs) => this.collect(start(client, this.requestOptions()), limitMs));
  }

  /** For a stream of events that has no end. Proven: the log is the one that this process knows. */
  async proven(): Promise<EventStoreDBClient> {
    const client = await this.current();
    if (this.proof?.client !== client) this.proof = this.beginProof(client);
    await this.proof.done;
    return client;
  }

  /** The next request asks first whether the log is still the one that this process knows. */
  doubt(): void {
    this.proof = null;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const reading of this.reads) end(reading, new StoreUnavailable('the store was closed'));
    await this.drop();
  }

  private async repeat<Result>(work: Work<Result>): Promise<Result> {
    const startedAt = performance.now();
    const leftMs = (): number => this.options.deadlineMs - (performance.now() - startedAt);
    let said: unknown = null;
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
      const limitMs = Math.max(Math.min(ATTEMPT_TIMEOUT_MS, leftMs()), 1);
      try {
        const result = await this.attempt(work, limitMs);
        this.report(null);
        return result;
      } catch (error) {
        if (error instanceof LogWentBack || !mayPass(error)) throw error;
        this.report(error as Error);
        // A last try that was cut short says less than the one before it.
        if (said === null || !isSilence(error) || limitMs === ATTEMPT_TIMEOUT_MS) said = error;
        if (leftMs() <= waitMs || this.isClosed)
          throw said instanceof StoreUnavailable ? said : new KurrentUnavailable(said);
      }
      await delay(waitMs);
    }
  }

  private async attempt<Result>(work: Work<Result>, limitMs: number): Promise<Result> {
    const used = this.current();
    try {
      return await work(await this.proven(), limitMs);
    } catch (error) {
      if (mayPass(error)) this.doubt();
      // A connection to a server that hangs stays as it is: another one may lead elsewhere.
      if (isSilence(error) && this.client === used) void this.drop();
      throw error;
    }
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

  private beginProof(client: EventStoreDBClient): Proof {
    const doubt = (): void => {
      if (this.proof === proof) this.proof = null;
    };
    const proof: Proof = { client, done: this.prove(client, doubt) };
    proof.done.catch(doubt);
    return proof;
  }

  /** @param doubt called when the connection is no longer the one that was asked */
  private async prove(client: EventStoreDBClient, doubt: () => void): Promise<void> {
    const channel = await (client as unknown as ConnectedClient).getChannel();
    if (this.lastSeen !== null) await this.compare(client, this.lastSeen);
    // Between two requests it is lost and made anew without a word.
    channel.watchConnectivityState(channel.getConnectivityState(false), Infinity, doubt);
  }

  private async compare(client: EventStoreDBClient, seen: RecordedEvent): Promise<void> {
    const fromRevision = BigInt(seen.revision);
    const reading = client.readStream(seen.stream, { fromRevision, maxCount: 1, ...this.requestOptions() });
    const [event] = await this.collect(reading, ATTEMPT_TIMEOUT_MS).catch((error: unknown) => {
      if (isMissingStream(error) || isDeletedStream(error)) return [];
      throw error;
    });
    if (event && event.id === seen.id && positionOf(event) === seen.position) return;
    const error = new LogWentBack('event store', seen.position);
    this.options.onWentBack(error);
    throw error;
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

  private report(error: Error | null): void {
    if (this.isAway === (error !== null) || this.isClosed) return;
    this.isAway = error !== null;
    this.options.onOutage(error);
  }
}

/** A year. */
const NEVER_MS = 31_536_000_000;
/** A server without TLS is sent no user: the client leaves it out. */
const NOBODY: Credentials = { username: 'nobody', password: 'nobody' };

const isSilence = (error: unknown): boolean => error instanceof NoAnswer;

const within = async <Result>(limitMs: number, answer: Promise<Result>): Promise<Result> => {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(`no answer within ${Math.round(limitMs)} ms`)), limitMs);
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
};

/** Failed first, and cancelled only then: the other way round it would look complete. */
const end = (reading: Reading, error: Error): void => {
  reading.destroy(error);
  void reading.cancel().catch(() => undefined);
};
