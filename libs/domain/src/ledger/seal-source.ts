import { actionDecider, type Action } from '../gate/index.js';
import {
  categoryOf,
  evolveStrictly,
  requireGapless,
  streamRef,
  TransientMap,
  type EventEnvelope,
  type EventPlace,
  type OrgId,
  type Position,
  type RecordedEvent,
} from '../kernel/index.js';
import { adminActOf } from './admin-deed.js';
import type { DeedSections } from './deed-sections.js';
import { actionSections, adminSections, amendmentSections } from './deed-sections.js';

/** One event that asks for one deed. */
export interface SealRequest {
  readonly org: OrgId;
  readonly source: EventPlace;
  readonly position: Position;
  readonly sections: DeedSections;
}

/** Of every action: which stream it is, is the event's own word. */
const ANY_ACTION = streamRef(actionDecider, 'any');

const evolveAction = (state: Action, { event }: EventEnvelope): Action => evolveStrictly(ANY_ACTION, state, event);

/**
 * The action as its stream's events tell it, in order from the first.
 * @throws {UnknownEventType}
 * @throws {MissingEvent}
 */
export const foldAction = (envelopes: readonly EventEnvelope[]): Action => {
  requireGapless(
    envelopes.map(({ recorded }) => recorded),
    0,
  );
  return foldActionOn(actionDecider.initialState(), envelopes);
};

/** The action after these events, which follow each other and what it was folded from. */
export const foldActionOn = (action: Action, envelopes: readonly EventEnvelope[]): Action =>
  envelopes.reduce(evolveAction, action);

/** By one event of its stream an action becomes `recorded`; by others its witness is amended afterwards. */
const sectionsOf = (action: Action, { recorded, metadata }: EventEnvelope): DeedSections | null => {
  if (action.state !== 'recorded') return null;
  if (action.sealingRevision === recorded.revision) return actionSections(action);
  return action.amendedRevision === recorded.revision ? amendmentSections(action, metadata.actor) : null;
};

/**
 * Which deed, if any, this event asks for (rule DEED-7). The same for the sealer and for an auditor who replays the
 * log.
 * @param action the state of the event's action after this event; ignored for events of other streams
 */
export const sealRequestOf = (envelope: EventEnvelope, action: Action | null): SealRequest | null => {
  const { recorded, metadata } = envelope;
  if (metadata.org === null) return null;
  const asked = (sections: DeedSections): SealRequest => ({
    org: metadata.org as OrgId,
    source: placeOf(envelope),
    position: recorded.position,
    sections,
  });
  if (categoryOf(recorded.stream) === 'action') {
    const sections = action && sectionsOf(action, envelope);
    return sections && asked(sections);
  }
  const act = adminActOf(envelope);
  return act ? asked(adminSections(act, metadata.actor)) : null;
};

export const placeOf = ({ recorded }: EventEnvelope): EventPlace => ({
  stream: recorded.stream,
  revision: recorded.revision,
  event_id: recorded.id,
});

/**
 * Folds actions as the log goes by, so that a sealing event finds its action in memory. Forgetting one is harmless: its
 * stream is then read.
 */
export class ActionsInFlight {
  private readonly actions = new TransientMap<{ readonly action: Action; readonly revision: number }>();

  /** Whether one was forgotten that was not over. */
  hasForgotten = false;

  constructor(private readonly capacity = 50_000) {}

  /**
   * The action after this event. Null where this is not the event after the last one seen: the beginning of the action
   * was not seen, or the event comes once more because a batch is handed on again after a failure.
   * @throws {UnknownEventType}
   */
  after(envelope: EventEnvelope): Action | null {
    const { recorded } = envelope;
    const before = this.before(recorded);
    if (!before) return null;
    const next = evolveAction(before, envelope);
    this.remember(recorded, next);
    return next;
  }

  /** The action before an event of its stream; null where that is not known. */
  before({ stream, revision }: Pick<RecordedEvent, 'stream' | 'revision'>): Action | null {
    if (revision === 0) return actionDecider.initialState();
    const known = this.actions.get(stream);
    return known?.revision === revision - 1 ? known.action : null;
  }

  /** Of an action that is over as well, for the event that comes next. @param action after this event */
  recall({ stream, revision }: RecordedEvent, action: Action): void {
    this.actions.set(stream, { action, revision });
  }

  /** @param action after this event */
  remember({ stream, revision }: RecordedEvent, action: Action): void {
    this.actions.delete(stream);
    // An amendment may come, seldom and years later: then the stream is read.
    if (action.state === 'recorded' || action.state === 'abandoned') return;
    this.actions.set(stream, { action, revision });
    if (this.actions.size <= this.capacity) return;
    this.actions.delete(this.actions.keys().next().value as string);
    this.hasForgotten = true;
  }
}
