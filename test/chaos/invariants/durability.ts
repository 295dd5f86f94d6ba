import {
  answerText,
  callsText,
  endingUnrun,
  groupedBy,
  isDenied,
  isSubmission,
  outcomeOf,
  stateOf,
  statusIn,
  textOf,
  membersOf,
  type ActionFile,
  type Dossier,
  type KeyedCall,
  type Telling,
} from '../dossier.js';
import type { LoggedEvent } from '../evidence.js';

const RANKS: Readonly<Record<string, number>> = {
  pending_approval: 0,
  executing: 1,
  witnessing: 2,
  recorded: 3,
  sealed: 4,
};
const rankOf = (state: unknown): number => RANKS[textOf(state)] ?? -1;

/** INV-01. What an answer implied is there at the end: the action, how far it was, its outcome and its deed. */
export const acceptedIsDurable = ({ actions, tellings }: Dossier): readonly string[] =>
  [...groupedBy(tellings, ({ action }) => action)].flatMap(([id, told]) => {
    const file = actions.get(id);
    if (!file) return [`${id} was shown to a client and is not in the log: ${callsText([told[0]!.call])}`];
    return told.flatMap((telling) => [...standingFaults(file, telling), ...requestFaults(file, telling)]);
  });

/** How far it was, and that it is sealed when it has a deed. */
const standingFaults = (file: ActionFile, { call: { number }, view }: Telling): readonly string[] => {
  const faults: string[] = [];
  const [state, deed] = [textOf(view['state']), view['deed']];
  if (!(state in RANKS)) faults.push(`${file.id} was "${state}" in the answer to call ${number}, which is no state`);
  if (rankOf(state) > rankOf(stateOf(file))) {
    faults.push(`${file.id} was ${state} in the answer to call ${number}; its log ends at ${stateOf(file)}`);
  }
  if (typeof deed === 'string' && !file.deeds.some(({ data }) => data['deed'] === deed)) {
    faults.push(`${file.id} had the deed ${deed} in the answer to call ${number}; the ledger has no such deed of it`);
  }
  if ((state === 'sealed') !== (typeof deed === 'string')) {
    faults.push(`${file.id} was ${state} in the answer to call ${number}, with the deed ${String(deed)}`);
  }
  return faults;
};

/** What was asked for, and when: from the first answer on it is what the log says, and what the caller sent. */
const requestFaults = (file: ActionFile, { call, view }: Telling): readonly string[] => {
  const submitted = file.submitted ?? {};
  const due = { request_digest: submitted['request_digest'], tool: submitted['tool'], created_at: submitted['at'] };
  const faults = Object.entries(due)
    .filter(([member, value]) => view[member] !== value)
    .map(([member]) => `${file.id} had another ${member} in the answer to call ${call.number} than in the log`);
  if (isSubmission(call) && call.tool !== submitted['tool'])
    faults.push(`${file.id} is of ${textOf(submitted['tool'])}, and was asked for as ${call.tool ?? 'nothing'}`);
  return faults;
};

/**
 * INV-16. Once the faults have ended, all is sealed within the limit and the service is well, with nobody's help; and whoever
 * then asks again is led to an action.
 */
export const comesToRest = ({ evidence: { rest }, actions, keys }: Dossier): readonly string[] => [
  ...[...actions.values()].flatMap((file) => {
    const {
      id,
      deeds: [deed],
    } = file;
    const acceptedAt = leftToTheServiceAt(file);
    const [from, since] =
      acceptedAt >= rest.faultsEndedAt
        ? [acceptedAt, 'it was accepted, while nothing was wrong']
        : [rest.faultsEndedAt, 'the last fault'];
    const sealedAfterMs = deed ? Date.parse(textOf(deed.data['issued_at'])) - Date.parse(from) : 0;
    return sealedAfterMs > rest.limitMs ? [`${id} was sealed ${sealedAfterMs} ms after ${since}`] : [];
  }),
  ...(rest.wellAfterMs > rest.limitMs ? [`the service was not well ${rest.limitMs} ms after the last fault`] : []),
  ...rest.unsealed.map((id) => `${id} has no deed ${rest.limitMs} ms after the last fault`),
  ...(rest.health['status'] === 'ok'
    ? []
    : [`health is ${JSON.stringify(rest.health)} ${rest.limitMs} ms after the last fault`]),
  ...keys.flatMap(openKeyFaults),
];

const WORDS_OF_OTHERS: ReadonlySet<string> = new Set(['ApprovalDecided', 'ActionCancelled', 'EdgeReported']);

/** When it was accepted; what waited for a person or for its agent, when these had said their word. */
const leftToTheServiceAt = ({ submitted, events }: ActionFile): string => {
  const word = events.findLast(({ type }) => WORDS_OF_OTHERS.has(type));
  return textOf((word?.data ?? submitted)?.['at']);
};

/** A key that was only sent under a fault may have led to nothing. */
const openKeyFaults = (calls: readonly KeyedCall[]): readonly string[] => {
  const inPeace = calls.filter(({ call }) => !call.isUnderFault).map(({ call }) => call);
  const last = inPeace.at(-1);
  if (last === undefined || calls.some(({ action }) => action !== null)) return [];
  return [
    `the key ${last.idempotencyKey ?? ''} led to no action, and was sent ${inPeace.length} times while nothing was wrong; ` +
      `at last it got ${answerText(last)}`,
  ];
};

/** INV-17. Whoever asks after an answer of his own never sees the action as it was before that answer. */
export const readsOwnWrites = ({ tellings, evidence }: Dossier): readonly string[] => {
  const faults: string[] = [];
  for (const [id, told] of groupedBy(tellings, ({ action }) => action)) {
    for (const later of told) {
      const earlier = told.find(
        (before) => precedes(before, later) && rankOf(before.view['state']) > rankOf(later.view['state']),
      );
      if (!earlier) continue;
      faults.push(
        `${id} was ${textOf(earlier.view['state'])} in the answer to call ${earlier.call.number}, and ` +
          `${textOf(later.view['state'])} in the answer to call ${later.call.number}, sent after it by the same caller`,
      );
    }
  }
  const known = groupedBy(tellings, ({ action }) => action);
  for (const call of evidence.calls) {
    const [, id] = /^\/v1\/actions\/(act_[^/?]+)/.exec(call.path) ?? [];
    if (id === undefined || call.answer?.status !== 404) continue;
    const shown = known
      .get(id)
      ?.find((before) => before.call.endedMs <= call.beganMs && before.call.caller === call.caller);
    if (shown) faults.push(`${id} was shown by call ${shown.call.number} and not found by call ${call.number}`);
  }
  return faults;
};

const precedes = (before: Telling, after: Telling): boolean =>
  before.call.endedMs <= after.call.beganMs && before.call.caller === after.call.caller;

/** INV-18. The first outcome is the last, in the log, in every answer and in the deed; a refusal is never executed. */
export const terminalStaysTerminal = ({ actions, tellings, deeds }: Dossier): readonly string[] => {
  const faults: string[] = [];
  for (const file of actions.values()) {
    const { id, outcomes, witnesses, attempts, decision } = file;
    if (outcomes.length > 1) faults.push(`${id} has ${outcomes.length} outcomes: ${wordsOf(outcomes)}`);
    if (witnesses.length > 1) faults.push(`${id} has ${witnesses.length} verdicts of a witness`);
    if (decision?.['outcome'] === 'deny' && attempts.length + outcomes.length > 0)
      faults.push(`${id} was refused and then run`);
  }
  for (const telling of tellings) {
    const file = actions.get(telling.action);
    if (file) faults.push(...endFaults(file, telling));
  }
  for (const { data } of deeds.filter((deed) => deed.data['kind'] === 'action')) {
    const file = actions.get(textOf(data['action']));
    const sealed =
      textOf(membersOf(membersOf(JSON.parse(textOf(data['body'])))['execution'])['status']) || 'not executed';
    const recorded = textOf(file && outcomeOf(file)?.['status']) || 'not executed';
    if (file && sealed !== recorded) {
      faults.push(`${file.id} is ${sealed} in its deed ${textOf(data['deed'])} and ${recorded} in the log`);
    }
  }
  return faults;
};

/** What an answer says of the end is what the log says of it: as much as an action has that is as far as the answer tells. */
const endFaults = (file: ActionFile, { call, view }: Telling): readonly string[] => {
  const state = textOf(view['state']);
  const hasOutcome = rankOf(state) >= rankOf('witnessing');
  const isWitnessed = rankOf(state) >= rankOf('recorded');
  const told = {
    status: view['status'],
    'decision.outcome': membersOf(view['decision'])['outcome'],
    'execution.status': membersOf(view['execution'])['status'],
    'witness.verdict': membersOf(view['witness'])['verdict'],
  };
  const due = {
    status: statusIn(state, file),
    'decision.outcome': file.decision?.['outcome'],
    'execution.status': hasOutcome ? outcomeOf(file)?.['status'] : undefined,
    'witness.verdict': isWitnessed ? verdictDue(file, told['witness.verdict']) : undefined,
  } satisfies Record<keyof typeof told, unknown>;
  const faults = (Object.keys(due) as (keyof typeof due)[])
    .filter((member) => textOf(told[member]) !== textOf(due[member]))
    .map((member) => {
      const [says, is] = [told[member], due[member]].map((value) => textOf(value) || 'none');
      return `${file.id} was ${state} with ${member} ${says} in the answer to call ${call.number}; by the log it is ${is}`;
    });
  const isRefusal = 'error' in (call.answer?.json ?? {});
  // What waited for a person was no refusal at first, and is one when it is asked for again after a no.
  const isRefused = isRefusal ? endingUnrun(file) !== null : isDenied(file);
  if (isSubmission(call) && isRefusal !== isRefused) {
    const [was, is] = isRefusal ? ['', 'not '] : ['not ', ''];
    faults.push(`${file.id} was ${was}refused by the answer to call ${call.number}, and is ${is}by the log`);
  }
  return faults;
};

/** The first, or a later one that amended it: an answer shows the newest of its moment. */
const verdictDue = ({ witnesses, amendments }: ActionFile, told: unknown): unknown => {
  const verdicts = [...witnesses, ...amendments].map(({ data }) => data['verdict']);
  return verdicts.includes(told) ? told : verdicts[0];
};

const wordsOf = (outcomes: readonly LoggedEvent[]): string =>
  outcomes.map(({ data, position }) => `${textOf(data['status'])} (position ${position})`).join(', then ');
