import { START, type RecordedEvent } from '#libs/domain/kernel';
import { openEventStore, type EventStorePlace, type OpenedEventStore } from '#libs/infra/event-store';
import { silentLogger } from '../support/silent-logger.js';
import { membersOf, textOf } from './dossier.js';
import type { LoggedEvent, Members } from './evidence.js';

const PAGE_EVENTS = 1_000;
const ACTION_STREAM = 'action-';

/** The deployment's log, read on from where it was read to: asking again costs what is new. */
export class LogReader {
  private readonly store: OpenedEventStore;
  private readonly read: LoggedEvent[] = [];
  private readonly open = new Set<string>();
  private position = START;

  constructor(place: EventStorePlace) {
    // Connections that a run ends are made anew with the next question.
    const onConnectionLost = (): void => undefined;
    this.store = openEventStore(place, { applicationName: 'ags chaos', log: silentLogger, onConnectionLost });
  }

  /** All of it, in its order. */
  async events(): Promise<readonly LoggedEvent[]> {
    await this.readOn();
    return this.read;
  }

  /** Actions without a deed, now. */
  async unsealed(): Promise<readonly string[]> {
    await this.readOn();
    return [...this.open];
  }

  close(): Promise<void> {
    return this.store.close();
  }

  private async readOn(): Promise<void> {
    for (;;) {
      const page = await this.store.readAll(this.position, PAGE_EVENTS);
      const last = page.at(-1);
      if (last === undefined) return;
      for (const event of page.map(logged)) this.take(event);
      this.position = last.position;
    }
  }

  private take(event: LoggedEvent): void {
    this.read.push(event);
    if (event.type === 'ActionSubmitted') this.open.add(event.stream.slice(ACTION_STREAM.length));
    if (event.type === 'DeedSealed') this.open.delete(textOf(event.data['action']));
  }
}

const logged = ({ stream, revision, position, id, type, data, metadata }: RecordedEvent): LoggedEvent => ({
  position: Number(position),
  stream,
  revision,
  id,
  type,
  data: membersOf(JSON.parse(data)),
  metadata: JSON.parse(metadata) as Members,
});
