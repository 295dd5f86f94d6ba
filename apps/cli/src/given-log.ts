import type { Append, AppendResult, Position, ReadStreamOptions, RecordedEvent } from '#libs/domain/kernel';
import type { OpenedEventStore } from '#libs/infra/event-store';
import { blaming } from './cli-error.js';

/** A log at a place that an option gave: what fails of it is told of that option, since no setting names the place. */
export class GivenLog {
  constructor(
    private readonly store: OpenedEventStore,
    private readonly option: string,
  ) {}

  storeId(): Promise<string> {
    return blaming(this.option, () => this.store.storeId());
  }

  append(append: Append): Promise<AppendResult> {
    return blaming(this.option, () => this.store.append(append));
  }

  readStream(stream: string, options?: ReadStreamOptions): Promise<readonly RecordedEvent[]> {
    return blaming(this.option, () => this.store.readStream(stream, options));
  }

  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    return blaming(this.option, () => this.store.readAll(after, limit));
  }

  head(): Promise<Position> {
    return blaming(this.option, () => this.store.head());
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
