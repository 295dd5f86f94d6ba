import { Injectable } from '@nestjs/common';
import {
  decodeEvent,
  deedOf,
  EventStore,
  type DeedId,
  type DomainEvent,
  type EventEnvelope,
} from '#libs/domain/kernel';

/** A change is the newest event of its stream, or near it when others changed the same object since. */
const LOOK_BACK_EVENTS = 32;

interface IdentifiedCommand {
  readonly commandId: string;
}

/** The deed of an administrative change: its answer carries the id before the deed is sealed (rule DEED-7). */
@Injectable()
export class ChangeDeeds {
  constructor(private readonly store: EventStore) {}

  /**
   * Null when the command changed nothing. A retried command is answered with the deed of its first try.
   * @param type of the event whose deed is meant, where a command causes several
   */
  async deedOf(stream: string, command: IdentifiedCommand, type?: string): Promise<DeedId | null> {
    const change = (await this.changesOf(stream, command)).find(({ event }) => (type ?? event.type) === event.type);
    return change ? deedOf(change) : null;
  }

  /** Of a command that may have several: all of them, in the order of what they seal. */
  async deedsOf(stream: string, command: IdentifiedCommand): Promise<readonly DeedId[]> {
    return (await this.eventsOf(stream, command)).flatMap((change) => deedOf(change) ?? []);
  }

  /** What a command recorded, in that order; a retried command, what its first try did. */
  async eventsOf<Event extends DomainEvent>(
    stream: string,
    command: IdentifiedCommand,
  ): Promise<readonly EventEnvelope<Event>[]> {
    return (await this.changesOf<Event>(stream, command)).toReversed();
  }

  /** Newest first. */
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
