import type { DomainEvent } from './event-codec.js';

/** Every event type of one stream's union. The compiler refuses an object that leaves one out. */
export type EventTypes<Event extends DomainEvent> = Readonly<Record<Event['type'], true>>;

/**
 * The pure core of one kind of stream (docs/adr/0001). `decide` and `evolve` use no clock, no randomness and no I/O:
 * what they need comes with the command.
 */
export interface Fold<State, Event extends DomainEvent> {
  /** First part of the stream's name: `<category>-<id>`. */
  readonly category: string;
  readonly initialState: () => State;
  /**
   * The event types that {@link evolve} handles. An event of any other type comes from a newer version and never
   * reaches `evolve`.
   */
  readonly eventTypes: EventTypes<Event>;
  /** Must handle every event type: a missing case is a compile error. */
  readonly evolve: (state: State, event: Event) => State;
  /**
   * True if this state will hardly be loaded again, so that it is not kept in the cache. Default: false for every
   * state.
   */
  readonly isOver?: (state: State) => boolean;
}

export interface Decider<State, Command, Event extends DomainEvent> extends Fold<State, Event> {
  /**
   * The events that the command causes; none if the state already is as the command wants it.
   * @throws {DomainError} when the command is refused and must leave no trace
   */
  readonly decide: (command: Command, state: State) => readonly Event[];
}

/** The id of a category that has one stream only (`sealkeys`, `store`). */
export const ONLY_STREAM = '';

/** Ids hold no dash, so the first dash of the name separates category and id. */
export const streamOf = (category: string, id: string): string => (id === ONLY_STREAM ? category : `${category}-${id}`);

export const categoryOf = (stream: string): string => {
  const dash = stream.indexOf('-');
  return dash < 0 ? stream : stream.slice(0, dash);
};

export const idInStream = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
