import { isAmendedBy, isRecordedBy, type Action, type ActionEvent } from '../gate/index.js';
import {
  categoryOf,
  decodeEvent,
  type DepartingAppends,
  type OrgId,
  type Position,
  type RecordedEvent,
} from '../kernel/index.js';
import { adminActOf } from './admin-deed.js';
import { SEAL_KEYS_STREAM } from './seal-key.decider.js';
import { foldAction, foldActionOn, sealRequestOf, type SealRequest } from './seal-source.js';

/** How far the log is sealed, as the sealer knows it. */
export interface SealedSoFar {
  /** Every event up to here is sealed, or belongs to an organization that is parked. */
  readonly seenUpTo: Position;
  /** The position of the source event of an organization's last deed; null if nothing can be sealed for it now. */
  sealedUpTo(org: OrgId): Position | null;
  /** The action before an event of its stream; null if the sealer does not know it. */
  actionBefore(event: Pick<RecordedEvent, 'stream' | 'revision'>): Action | null;
}

/** Whether an event of this type can give its action a deed. Events of the other types need not be decoded. */
const RECORDS: Readonly<Record<ActionEvent['type'], boolean>> = {
  ActionSubmitted: false,
  ActionDecided: true,
  ApprovalRequested: false,
  ApprovalCountersigned: false,
  ApprovalDecided: true,
  ApprovalExpired: true,
  ActionCancelled: true,
  EdgeAuthorized: false,
  EdgeReported: true,
  EdgeLost: false,
  ExecutionReady: false,
  ExecutionStarted: false,
  ExecutionProgress: false,
  WitnessReported: false,
  ExecutionFinished: true,
  ActionWitnessed: true,
  WitnessAmended: true,
  LateReport: false,
  SubmissionAbandoned: false,
};

/** With more unseen events than this, the sealer has to seal those first. */
const MAX_UNSEEN = 64;

/**
 * The request for the one deed that departing events ask for, so that it is sealed in the same commit. Null if they ask
 * for none or for several. Null also if an event before them has to be sealed first, or may have to, because a ledger
 * follows the order of the log.
 */
export const departingRequest = (departing: DepartingAppends, sealed: SealedSoFar): SealRequest | null => {
  // A deed must be judged by the seal keys as they are before it, so none goes along with a change of them.
  if (departing.events.some(({ stream }) => stream === SEAL_KEYS_STREAM)) return null;
  const asking = departing.events.filter(isAsking);
  // With several candidates the answer is usually null, so no action is folded for nothing.
  if (asking.filter(({ stream }) => isOfAction(stream)).length > 1) return null;
  const [request, ...more] = asking.flatMap((recorded) => requestsOf(recorded, departing, sealed));
  if (request === undefined || more.length > 0) return null;
  const sealedUpTo = sealed.sealedUpTo(request.org);
  const before = departing.since(sealed.seenUpTo);
  if (sealedUpTo === null || before === null || before.length > MAX_UNSEEN) return null;
  const isClear = (recorded: RecordedEvent): boolean =>
    recorded.stream !== SEAL_KEYS_STREAM && (recorded.position <= sealedUpTo || !mayAsk(recorded, request.org));
  return [...before, ...departing.events.filter(({ position }) => position < request.position)].every(isClear)
    ? request
    : null;
};

const requestsOf = (
  recorded: RecordedEvent,
  departing: DepartingAppends,
  sealed: SealedSoFar,
): readonly SealRequest[] => {
  const { stream, revision } = recorded;
  if (!isOfAction(stream)) return listOf(sealRequestOf(decodeEvent(recorded), null));
  const own = departing.events.filter((event) => event.stream === stream && event.revision <= revision);
  const first = own[0] as RecordedEvent;
  const before = sealed.actionBefore(first) ?? beginningOf(first, departing);
  if (before === null) return [];
  const action = foldActionOn(
    before,
    own.map((event) => decodeEvent(event)),
  );
  return listOf(sealRequestOf(decodeEvent(recorded), action));
};

const beginningOf = ({ stream, revision }: RecordedEvent, departing: DepartingAppends): Action | null => {
  const events = departing.beginningOf(stream, revision);
  return events && foldAction(events.map((event) => decodeEvent(event)));
};

/** Whether an event of this version may ask for a deed; only a fold of its action tells whether it does. */
const isAsking = (recorded: RecordedEvent): boolean => {
  const { stream, type } = recorded;
  if (!isOfAction(stream)) return categoryOf(stream) !== 'ledger';
  return RECORDS[type as ActionEvent['type']] && hasDeed(decodeEvent(recorded).event as ActionEvent);
};

const hasDeed = (event: ActionEvent): boolean => isRecordedBy(event) || isAmendedBy(event);

const isOfAction = (stream: string): boolean => categoryOf(stream) === 'action';

/**
 * Whether an event may ask for a deed of this organization. True for an event that cannot be read, or is of a newer
 * version.
 */
const mayAsk = (recorded: RecordedEvent, org: OrgId): boolean => {
  try {
    const envelope = decodeEvent(recorded);
    const category = categoryOf(recorded.stream);
    if (envelope.metadata.org !== org || category === 'ledger') return false;
    if (category !== 'action') return adminActOf(envelope) !== null;
    return !Object.hasOwn(RECORDS, recorded.type) || hasDeed(envelope.event as ActionEvent);
  } catch {
    return true;
  }
};

const listOf = <Item>(item: Item | null): readonly Item[] => (item === null ? [] : [item]);
