import { newSalt } from '#libs/crypto';
import type { CommandMetadata } from './command.js';
import { categoryOf, type Decider } from './decider.js';
import { DomainError } from './domain-error.js';
import {
  encodeEvents,
  FIRST_EVENT_SCHEMA,
  recordedAt,
  type DomainEvent,
  type EventEnvelope,
  type EventMetadata,
} from './event-codec.js';
import {
  type Append,
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  RevisionConflict,
} from './event-store.port.js';
import { streamRef, type Folded, type FoldedStreams } from './folded-streams.js';

/** An attempt fails only if another command's append came first, so few attempts are ever needed. */
const MAX_ATTEMPTS = 16;

export interface RunOptions<State> {
  /**
   * The state as the caller has just loaded it, which saves the first load. After a conflict the stream is loaded
   * again.
   */
  readonly known?: Folded<State>;
  /** Replaces the store's own `append`. After a conflict it is called again, with newly decided events. */
  readonly append?: (append: Append) => Promise<AppendResult>;
}

export interface CommandResult<State> {
  readonly folded: Folded<State>;
  /** The events that this call appended; empty if the command changed nothing or was a retry. */
  readonly events: readonly EventEnvelope[];
  /** Whether the command id was found in the stream, because an earlier try of the same command had succeeded. */
  readonly isReplay: boolean;
}

/**
 * Runs a command: loads the stream, decides, appends with the expected revision, and decides again after a conflict.
 */
export class CommandRunner {
  constructor(
    private readonly store: EventStore,
    private readonly streams: FoldedStreams,
  ) {}

  /** @throws {DomainError} the errors of `decide`; `conflict` when other commands won every attempt */
  async run<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
    command: Command,
    metadata: CommandMetadata,
    { known, append }: RunOptions<State> = {},
  ): Promise<CommandResult<State>> {
    const ref = streamRef(decider, id);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const folded = attempt === 1 && known ? known : await this.streams.load(ref);
      if (folded.causations.has(metadata.commandId)) return { folded, events: [], isReplay: true };
      const events = decider.decide(command, folded.state);
      if (events.length === 0) return { folded, events: [], isReplay: false };
      try {
        const store = append ? { append } : this.store;
        const envelopes = await appendEvents(store, folded.stream, folded.revision, events, metadata);
        return { folded: this.streams.advance(folded, ref, envelopes), events: envelopes, isReplay: false };
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
      }
    }
    throw new DomainError('conflict', {
      message: 'The object keeps changing. Wait a moment and send the request again.',
    });
  }
}

export const eventMetadata = (metadata: CommandMetadata): EventMetadata => ({
  org: metadata.org,
  actor: metadata.actor,
  request_id: metadata.requestId,
  causation: metadata.commandId,
  correlation: metadata.correlation ?? metadata.commandId,
  schema: metadata.schema ?? FIRST_EVENT_SCHEMA,
  at: metadata.now,
  ...(metadata.salt === undefined ? {} : { salt: metadata.salt }),
});

/**
 * An admin deed commits to the data of its event, so such events have a salt. Actions are many, and most of their
 * events say nothing that a deed commits to but by payloads: there the handler decides.
 */
const salted = (stream: string, metadata: CommandMetadata): CommandMetadata =>
  metadata.salt !== undefined || categoryOf(stream) === 'action' ? metadata : { ...metadata, salt: newSalt() };

/** Encodes the events for the revisions that follow `expectedRevision`, appends them, and returns them as recorded. */
export const appendEvents = async <Event extends DomainEvent>(
  store: Pick<EventStore, 'append'>,
  stream: string,
  expectedRevision: ExpectedRevision,
  events: readonly Event[],
  metadata: CommandMetadata,
): Promise<readonly EventEnvelope<Event>[]> => {
  const first = expectedRevision === 'no_stream' ? 0 : expectedRevision + 1;
  const meta = eventMetadata(salted(stream, metadata));
  const encoded = encodeEvents(events, meta, stream, first);
  const result: AppendResult = await store.append({ stream, expectedRevision, events: encoded });
  return events.map((event, index) => ({
    event,
    metadata: meta,
    // Only the last position is known exactly; the events of one append stand next to each other in the log.
    recorded: recordedAt(encoded[index] as NewEvent, stream, first + index, result.position),
  }));
};
