import { Injectable } from '@nestjs/common';
import { decodeEvent, deedOf, EventStore, type DeedId } from '#libs/domain/kernel';

/** A change is the newest event of its stream, or near it when others changed the same object since. */
const LOOK_BACK_EVENTS = 32;

/** The deed of an administrative change: its answer carries the id before the deed is sealed (architecture, step 6). */
@Injectable()
export class ChangeDeeds {
  constructor(private readonly store: EventStore) {}

  /**
   * Null when the command changed nothing. A retried command is answered with the deed of its first try.
   * @param type of the event whose deed is meant, where a command causes several
   */
  async deedOf(stream: string, { commandId }: { readonly commandId: string }, type?: string): Promise<DeedId | null> {
    const recent = await this.store.readStream(stream, { direction: 'backwards', limit: LOOK_BACK_EVENTS });
    const change = recent
      .map((recorded) => decodeEvent(recorded))
      .find(({ event, metadata }) => metadata.causation === commandId && (type ?? event.type) === event.type);
    return change ? deedOf(change) : null;
  }
}
