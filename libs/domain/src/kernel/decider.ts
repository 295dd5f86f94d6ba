import type { DomainEvent } from './event-codec.js';

/** Every event type of one stream's union. Leaving one out does not compile. */
export type EventTypes<Event extends DomainEvent> = Readonly<Record<Event['type'], true>>;

/**
 * The pure core of one kind of stream (docs/adr/0001). `decide` and `evolve` know no clock, no chance and no I/O: what
 * they need comes with the command.
 */
export interface Fold<State, Event extends DomainEvent> {
  /** First part of the stream's name: `<category>-<id>`. */
  readonly category: string;
  readonly initialState: () => State;
  /**
   * The event types that it knows. An event of any other type is of a newer version and never reaches {@link evolve}.
   */
  readonly eventTypes: EventTypes<Event>;
  /** Total: an event without a case is a compile error. */
  readonly evolve: (state: State, event: Event) => State;
  /**
   * Whether hardly anybody will ask for this state again: then it is not remembered. Default: false for every state.
   */
  readonly isOver?: (state: State) => boolean;
}

export interface Decider<State, Command, Event extends DomainEvent> extends Fold<State, Event> {
  /**
   * The events the command causes; none when the state already is what it asks for.
   * @throws {DomainError} when the command must leave no trace
   */
  readonly decide: (command: Command, state: State) => readonly Event[];
}

/** The id of a category that has one stream only (`sealkeys`, `store`). */
export const ONLY_STREAM = '';

/** The first dash splits: ids hold none (style, Names). */
export const streamOf = (category: string, id: string): string => (id === ONLY_STREAM ? category : `${category}-${id}`);

export const categoryOf = (stream: string): string => {
  const dash = stream.indexOf('-');
  return dash < 0 ? stream : stream.slice(0, dash);
};

export const idInStream = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
