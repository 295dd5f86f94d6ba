import {
  answerText,
  callsText,
  groupedBy,
  outcomeOf,
  stateOf,
  textOf,
  membersOf,
  type Dossier,
  type KeyedCall,
  type Telling,
} from '../dossier.js';
import type { LoggedEvent, Members } from '../evidence.js';

const RANKS: Readonly<Record<string, number>> = { executing: 0, witnessing: 1, recorded: 2, sealed: 3 };
const rankOf = (state: unknown): number => RANKS[textOf(state)] ?? -1;
const statusOf = (view: Members): string => textOf(membersOf(view['execution'])['status']);

/** INV-01. What an answer implied is there at the end: the action, how far it was, its outcome and its deed. */
export const acceptedIsDurable = ({ actions, tellings }: Dossier): readonly string[] =>
  [...groupedBy(tellings, ({ action }) => action)].flatMap(([id, told]) => {
    const file = actions.get(id);
    if (!file) return [`${id} was shown to a client and is not in the log: ${callsText([told[0]!.call])}`];
    return told.flatMap(({ call, view }) => {
      const faults: string[] = [];
      const { number } = call;
      if (rankOf(view['state']) > rankOf(stateOf(file))) {
        faults.push(
          `${id} was ${textOf(view['state'])} in the answer to call ${number}; its log ends at ${stateOf(file)}`,
        );
      }
      const deed = view['deed'];
      if (typeof deed === 'string' && !file.deeds.some(({ data }) => data['deed'] === deed)) {
        faults.push(`${id} had the deed ${deed} in the answer to call ${number}; the ledger has no such deed of it`);
      }
      if (textOf(view['request_digest']) !== textOf(file.submitted?.['request_digest'])) {
        faults.push(`${id} had another request_digest in the answer to call ${number} than in the log`);
      }
      return faults;
    });
  });

/**
 * INV-16. Once the faults have ended, all is sealed within the limit and the service is well, with nobody's help; and whoever
 * then asks again is led to an action.
 */
export const comesToRest = ({ evidence: { rest }, actions, keys }: Dossier): readonly string[] => [
  ...[...actions.values()].flatMap(({ id, submitted, deeds: [deed] }) => {
    const acceptedAt = textOf(submitted?.['at']);
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
  for (const { action, view, call } of tellings) {
    const file = actions.get(action);
    const recorded = file && outcomeOf(file);
    if (recorded && statusOf(view) !== '' && statusOf(view) !== recorded['status']) {
      faults.push(
        `${action} was ${statusOf(view)} in the answer to call ${call.number}; its first outcome is ${textOf(recorded['status'])}`,
      );
    }
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

const wordsOf = (outcomes: readonly LoggedEvent[]): string =>
  outcomes.map(({ data, position }) => `${textOf(data['status'])} (position ${position})`).join(', then ');
