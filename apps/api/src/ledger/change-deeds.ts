import { Injectable } from '@nestjs/common';
import {
  decodeEvent,
  deedOf,
  EventStore,
  type DeedId,
  type DomainEvent,
  type EventEnvelope,
} from '#libs/domain/kernel';

/**
 * How far back a change is searched: it is the newest event of its stream, or near it if others have changed the same
 * object since.
 */
const LOOK_BACK_EVENTS = 32;

interface IdentifiedCommand {
  readonly commandId: string;
}

/** The deed ids of administrative changes. An answer carries the id before the deed is sealed (rule DEED-7). */
@Injectable()
export class ChangeDeeds {
  constructor(private readonly store: EventStore) {}

  /**
   * The id of the deed of a change; null if the command changed nothing. A retried command gets the deed of its first
   * try.
   * @param type which event's deed is meant, if the command causes several events
   */
  async deedOf(stream: string, command: IdentifiedCommand, type?: string): Promise<DeedId | null> {
    const change = (await this.changesOf(stream, command)).find(({ event }) => (type ?? event.type) === event.type);
    return change ? deedOf(change) : null;
  }

  /** The ids of all deeds of a command that may have several, in the order of the events that they seal. */
  async deedsOf(stream: string, command: IdentifiedCommand): Promise<readonly DeedId[]> {
    return (await this.eventsOf(stream, command)).flatMap((change) => deedOf(change) ?? []);
  }

  /** The events that a command recorded, in order; for a retried command, those of its first try. */
  async eventsOf<Event extends DomainEvent>(
    stream: string,
    command: IdentifiedCommand,
  ): Promise<readonly EventEnvelope<Event>[]> {
    return (await this.changesOf<Event>(stream, command)).toReversed();
  }

  /** The events that a command recorded, newest first. */
  private async changesOf<Event extends DomainEvent>(
    stream: string,
    { commandId }: IdentifiedCommand,
  ): Promise<readonly EventEnvelope<Event>[]> {
    const recent = await this.store.readStream(stream, { direction: 'backwards', limit: LOOK_BACK_EVENTS });
    return recent
      .map((recorded) => decodeEvent<Event>(recorded))
      .filter(({ metadata }) => metadata.causation === commandId);
  }
}
