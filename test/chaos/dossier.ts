import type { ClientAnswer, ClientCall, Evidence, LoggedEvent, Members } from './evidence.js';

/** One action as the log tells it, read by the checker's own eyes: none of the service's folds is used here. */
export interface ActionFile {
  readonly id: string;
  readonly submitted: Members | null;
  readonly decision: Members | null;
  readonly attempts: readonly Members[];
  readonly outcomes: readonly LoggedEvent[];
  readonly witnesses: readonly LoggedEvent[];
  /** Later verdicts. */
  readonly amendments: readonly LoggedEvent[];
  /** The deeds of kind `action` that name it. */
  readonly deeds: readonly LoggedEvent[];
  /** Those of kind `amendment`. */
  readonly amendmentDeeds: readonly LoggedEvent[];
  readonly events: readonly LoggedEvent[];
}

/** What a client was told of an action. */
export interface Telling {
  readonly call: ClientCall;
  readonly action: string;
  readonly view: Members;
}

/** A submission under an `Idempotency-Key`. */
export interface KeyedCall {
  readonly call: ClientCall;
  /** What the answer named; null where it named none or there was none. */
  readonly action: string | null;
}

/** The evidence, put in order once for all invariants. */
export interface Dossier {
  readonly evidence: Evidence;
  readonly actions: ReadonlyMap<string, ActionFile>;
  /** `DeedSealed` events of the organization's ledger, in the order of the log. */
  readonly deeds: readonly LoggedEvent[];
  readonly tellings: readonly Telling[];
  /** Submissions by caller and key, each in the order in which they were sent. */
  readonly keys: readonly (readonly KeyedCall[])[];
}

export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** In the order in which the keys were met. */
export const groupedBy = <Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> => {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
};

const ACTION_STREAM = 'action-';
const isAccepted = ({ submitted }: ActionFile): boolean => submitted !== null;

export const dossierOf = (evidence: Evidence): Dossier => {
  const byStream = groupedBy(evidence.events, ({ stream }) => stream);
  const deeds = evidence.events.filter(
    ({ stream, type }) => stream === `ledger-${evidence.org}` && type === 'DeedSealed',
  );
  const deedsByAction = groupedBy(deeds, ({ data }) => `${textOf(data['kind'])} ${textOf(data['action'])}`);
  const files = [...byStream]
    .filter(([stream]) => stream.startsWith(ACTION_STREAM))
    .map(([stream, events]) => {
      const id = stream.slice(ACTION_STREAM.length);
      const deedsOf = (kind: string): readonly LoggedEvent[] => deedsByAction.get(`${kind} ${id}`) ?? [];
      return fileOf(id, events, { own: deedsOf('action'), amending: deedsOf('amendment') });
    });
  const actions = new Map(files.filter(isAccepted).map((file) => [file.id, file]));
  const tellings = evidence.calls.flatMap(tellingsOf);
  return { evidence, actions, deeds, tellings, keys: keysOf(evidence.calls, tellings) };
};

export const isSubmission = ({ method, path }: ClientCall): boolean => method === 'POST' && path === '/v1/actions';

const keysOf = (calls: readonly ClientCall[], tellings: readonly Telling[]): Dossier['keys'] => {
  const told = new Map(tellings.map(({ call, action }) => [call.number, action]));
  const keyed = calls
    .filter((call) => isSubmission(call) && call.idempotencyKey !== null)
    .map((call): KeyedCall => ({ call, action: told.get(call.number) ?? null }));
  return [...groupedBy(keyed, ({ call }) => `${call.caller ?? ''} ${call.idempotencyKey ?? ''}`).values()];
};

const fileOf = (
  id: string,
  events: readonly LoggedEvent[],
  { own, amending }: { readonly own: readonly LoggedEvent[]; readonly amending: readonly LoggedEvent[] },
): ActionFile => {
  const of = (type: string): readonly LoggedEvent[] => events.filter((event) => event.type === type);
  return {
    id,
    submitted: of('ActionSubmitted')[0]?.data ?? null,
    decision: of('ActionDecided')[0] ? membersOf(of('ActionDecided')[0]?.data['decision']) : null,
    attempts: of('ExecutionStarted').map(({ data }) => data),
    outcomes: events.filter(({ type }) => OUTCOMES.has(type)).map(saidOutcome),
    witnesses: of('ActionWitnessed'),
    amendments: of('WitnessAmended'),
    deeds: own,
    amendmentDeeds: amending,
    events,
  };
};

const OUTCOMES: ReadonlySet<string> = new Set(['ExecutionFinished', 'EdgeReported', 'EdgeLost']);

/** An edge that never reported leaves open what happened, and its event says no more. */
const saidOutcome = (event: LoggedEvent): LoggedEvent =>
  event.type === 'EdgeLost' ? { ...event, data: { status: 'unknown', ...event.data } } : event;

/** Of a list that is behind. */
export const LAG_HEADER = 'service-projection-lag';

/**
 * The action of an answer to a submission, a read or a refusal; of a list, each of its rows. A list that says itself that it
 * is behind tells nothing.
 */
const tellingsOf = (call: ClientCall): readonly Telling[] => {
  const { json = {}, headers = {} }: Partial<ClientAnswer> = call.answer ?? {};
  const isCurrentList = json['object'] === 'list' && Array.isArray(json['data']) && !(LAG_HEADER in headers);
  const rows = isCurrentList ? (json['data'] as unknown[]) : [];
  return [json, membersOf(membersOf(json['error'])['action']), ...rows.map(membersOf)]
    .filter((view) => view['object'] === 'action')
    .map((view) => ({ call, action: textOf(view['id']), view }));
};

/** The one outcome that the log tells first; null while there is none. */
export const outcomeOf = ({ outcomes }: ActionFile): Members | null => outcomes[0]?.data ?? null;

export const isDenied = ({ decision }: ActionFile): boolean => decision?.['outcome'] === 'deny';

/** Run by the agent itself: nothing of it reaches an upstream of the service. */
export const isOfTheEdge = ({ submitted }: ActionFile): boolean => submitted?.['mode'] === 'proxy';

/** How it ended where nothing was run: refused, or waiting for a person; null where it may have been run. */
export const endingUnrun = (file: ActionFile): 'denied' | 'expired' | 'cancelled' | null => {
  if (isDenied(file)) return 'denied';
  for (const { type, data } of file.events) {
    if (type === 'ApprovalDecided') return data['outcome'] === 'denied' ? 'denied' : null;
    if (type === 'ApprovalExpired') return 'expired';
    if (type === 'ActionCancelled') return 'cancelled';
  }
  return null;
};

const isPending = ({ events }: ActionFile): boolean =>
  events.some(({ type }) => type === 'ApprovalRequested') && !events.some(({ type }) => type === 'ApprovalDecided');

/** Whether the log says how the action ended: not run, or executed with an outcome and its witness. */
export const isRecorded = (file: ActionFile): boolean =>
  endingUnrun(file) !== null || file.witnesses.length > 0 || outcomeOf(file)?.['status'] === 'failed';

const ENDED: Readonly<Record<string, string>> = { succeeded: 'executed', unknown: 'executed', failed: 'failed' };

/** The status of an action in that state, told by an end that the log knows (rule GATE-5). */
export const statusIn = (state: string, file: ActionFile): string => {
  if (state === 'pending_approval') return 'pending_approval';
  const unrun = endingUnrun(file);
  if (unrun !== null) return unrun;
  if (state === 'sealed') return ENDED[textOf(outcomeOf(file)?.['status'])] ?? '';
  return state === 'executing' && isOfTheEdge(file) ? 'authorized' : 'processing';
};

/** `pending_approval`, `executing`, `witnessing`, `recorded`, `sealed`: what a caller sees. */
export const stateOf = (file: ActionFile): string => {
  if (file.deeds.length > 0) return 'sealed';
  if (isRecorded(file)) return 'recorded';
  if (isPending(file)) return 'pending_approval';
  return file.outcomes.length > 0 ? 'witnessing' : 'executing';
};

/** What a call got: the status, and the code where it is an error. */
export const answerText = ({ answer }: ClientCall): string => {
  if (answer === null) return 'no answer';
  return `${answer.status} ${textOf(membersOf(answer.json['error'])['code'])}`.trim();
};

/** For the end of a sentence: the calls by which a client knows of something. */
export const callsText = (calls: readonly ClientCall[]): string =>
  calls.map(({ number, method, path }) => `call ${number} (${method} ${path})`).join(', ');
