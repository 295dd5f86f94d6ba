import { actionDecider, type Action } from '../gate/index.js';
import {
  categoryOf,
  evolveStrictly,
  plainMap,
  requireGapless,
  streamRef,
  type EventEnvelope,
  type EventPlace,
  type OrgId,
  type Position,
  type RecordedEvent,
  type ValuesByName,
} from '../kernel/index.js';
import { adminActOf, type AdminAct } from './admin-deed.js';
import {
  actionSections,
  adminSections,
  amendmentSections,
  type DeedSections,
  firstActionSections,
  firstAdminSections,
  firstAmendmentSections,
  type FirstSections,
} from './deed-sections.js';

/** An event that asks for a deed, and what the deed says. */
export interface SealRequest {
  readonly org: OrgId;
  readonly source: EventPlace;
  readonly position: Position;
  /** In the newest format that the events allow. */
  readonly sections: DeedSections;
  /** In the format of versions that sealed plain digests: a process of one may have sealed the event. */
  readonly firstSections: () => FirstSections;
}

/** Folds the events of any action: they name their action themselves, so the id here does not matter. */
const ANY_ACTION = streamRef(actionDecider, 'any');

const evolveAction = (state: Action, { event }: EventEnvelope): Action => evolveStrictly(ANY_ACTION, state, event);

/**
 * The action that the events of its stream give, in order from the first.
 * @throws {UnknownEventType} when a newer version wrote one of the events
 * @throws {MissingEvent} when an event is missing
 */
export const foldAction = (envelopes: readonly EventEnvelope[]): Action => {
  requireGapless(
    envelopes.map(({ recorded }) => recorded),
    0,
  );
  return foldActionOn(actionDecider.initialState(), envelopes);
};

/** The action after these events, which must follow the events that `action` was folded from. */
export const foldActionOn = (action: Action, envelopes: readonly EventEnvelope[]): Action =>
  envelopes.reduce(evolveAction, action);

/**
 * What the deed for an event of an action says; null if the event asks for none. One event of the stream makes the
 * action `recorded`; later ones may amend its witness.
 */
const sectionsOf = (action: Action, { recorded, metadata }: EventEnvelope): Asked | null => {
  if (action.state !== 'recorded') return null;
  if (action.sealingRevision === recorded.revision) {
    return { sections: actionSections(action), firstSections: () => firstActionSections(action) };
  }
  if (action.amendedRevision !== recorded.revision) return null;
  const { actor } = metadata;
  return {
    sections: amendmentSections(action, actor),
    firstSections: () => firstAmendmentSections(action, actor),
  };
};

type Asked = Pick<SealRequest, 'sections' | 'firstSections'>;

/**
 * The deed that this event asks for, or null if it asks for none (rule DEED-7). The sealer and an auditor who replays
 * the log get the same.
 * @param action the state of the event's action after this event; ignored for events of other streams
 */
export const sealRequestOf = (envelope: EventEnvelope, action: Action | null): SealRequest | null => {
  const { recorded, metadata } = envelope;
  if (metadata.org === null) return null;
  const asked = ({ sections, firstSections }: Asked): SealRequest => ({
    org: metadata.org as OrgId,
    source: placeOf(envelope),
    position: recorded.position,
    sections,
    firstSections,
  });
  if (categoryOf(recorded.stream) === 'action') {
    const sections = action && sectionsOf(action, envelope);
    return sections && asked(sections);
  }
  const act = adminActOf(envelope);
  return act && asked(askedByAct(act, metadata));
};

/** The sections of the admin deed for an act, by the metadata of its event. */
export const askedByAct = (act: AdminAct, { actor, salt }: EventEnvelope['metadata']): Asked => ({
  sections: adminSections(act, actor, salt),
  firstSections: () => firstAdminSections(act, actor),
});

export const placeOf = ({ recorded }: EventEnvelope): EventPlace => ({
  stream: recorded.stream,
  revision: recorded.revision,
  event_id: recorded.id,
});

/**
 * Folds actions while the log is read, so that the action of a sealing event is in memory. An action may be dropped at
 * any time, because its stream can be read instead.
 */
export class ActionsInFlight {
  private readonly actions: ValuesByName<{ readonly action: Action; readonly revision: number }>;

  /** Whether an unfinished action was dropped. */
  hasForgotten = false;

  constructor(
    private readonly capacity = 50_000,
    newMap = plainMap,
  ) {
    this.actions = newMap();
  }

  /**
   * The action after this event. Null if this event does not follow the last one seen of its stream: because the
   * beginning of the action was not seen, or because a batch is repeated after a failure.
   * @throws {UnknownEventType} when a newer version wrote the event
   */
  after(envelope: EventEnvelope): Action | null {
    const { recorded } = envelope;
    const before = this.before(recorded);
    if (!before) return null;
    const next = evolveAction(before, envelope);
    this.remember(recorded, next);
    return next;
  }

  /** The action before an event of its stream; null if it is not in memory. */
  before({ stream, revision }: Pick<RecordedEvent, 'stream' | 'revision'>): Action | null {
    if (revision === 0) return actionDecider.initialState();
    const known = this.actions.get(stream);
    return known?.revision === revision - 1 ? known.action : null;
  }

  /**
   * Keeps an action for the next event of its stream, even if the action is over.
   * @param action the action after this event
   */
  recall({ stream, revision }: RecordedEvent, action: Action): void {
    this.actions.set(stream, { action, revision });
  }

  /**
   * Keeps an unfinished action and drops one that is over.
   * @param action the action after this event
   */
  remember({ stream, revision }: RecordedEvent, action: Action): void {
    this.actions.delete(stream);
    // Amendments are rare and may come years later, so for them the stream is read again.
    if (action.state === 'recorded' || action.state === 'abandoned') return;
    this.actions.set(stream, { action, revision });
    if (this.actions.size <= this.capacity) return;
    this.actions.delete(this.actions.keys().next().value as string);
    this.hasForgotten = true;
  }
}
