import { membersOf, textOf, type ActionFile, type Dossier } from '../dossier.js';
import type { LoggedEvent, Members } from '../evidence.js';

const ENDS: ReadonlySet<string> = new Set(['ApprovalDecided', 'ApprovalExpired', 'ActionCancelled']);
/** By which an action may run: after a yes and never before. */
const RUNS: ReadonlySet<string> = new Set(['ExecutionReady', 'ExecutionStarted', 'EdgeAuthorized']);

/**
 * INV-13. A call that a person was to be asked about is decided once; expiry and a yes never both hold; nothing ran before
 * the yes, or without the signatures that it needed; nobody alone approves what runs for themselves.
 */
export const approvalsHold = ({ actions, evidence }: Dossier): readonly string[] => {
  const reached = new Set(evidence.upstream.map(({ action }) => action));
  return [...actions.values()].flatMap((file) => {
    const isAsked = file.decision?.['outcome'] === 'require_approval';
    const request = file.events.find(({ type }) => type === 'ApprovalRequested');
    if (!isAsked) return request ? [`${file.id} asked for an approval that its decision does not require`] : [];
    if (!request) return [`${file.id} requires an approval, and nobody was asked`];
    return [...endFaults(file), ...runFaults(file, reached.has(file.id)), ...signatureFaults(file, request.data)];
  });
};

const endFaults = ({ id, events }: ActionFile): readonly string[] => {
  const ends = events.filter(({ type }) => ENDS.has(type));
  return ends.length > 1 ? [`the approval of ${id} ended ${ends.length} times: ${ends.map(endText).join(', ')}`] : [];
};

const endText = ({ type, data }: LoggedEvent): string => textOf(data['outcome']) || type;

const yesOf = ({ events }: ActionFile): LoggedEvent | undefined =>
  events.find(({ type, data }) => type === 'ApprovalDecided' && data['outcome'] === 'approved');

const runFaults = (file: ActionFile, hasReached: boolean): readonly string[] => {
  const yes = yesOf(file);
  const first = file.events.find(({ type }) => RUNS.has(type));
  if (!yes) {
    if (first) return [`${file.id} has ${first.type}, and no person approved it`];
    return hasReached ? [`${file.id} reached the upstream, and no person approved it`] : [];
  }
  const isBefore = first !== undefined && file.events.indexOf(first) < file.events.indexOf(yes);
  return isBefore ? [`${file.id} has ${first.type} before a person approved it`] : [];
};

const signatureFaults = (file: ActionFile, terms: Members): readonly string[] => {
  const yes = yesOf(file);
  if (!yes) return [];
  const before = file.events.slice(0, file.events.indexOf(yes));
  const signers = new Set(
    before.filter(({ type }) => type === 'ApprovalCountersigned').map(({ data }) => textOf(data['by'])),
  );
  const required = Number(terms['required']);
  const faults: string[] = [];
  if (signers.size < required)
    faults.push(`${file.id} needs ${required} signatures and was approved by ${signers.size}`);
  const forWhom = membersOf(file.submitted)['on_behalf_of'];
  if (typeof forWhom === 'string' && signers.has(forWhom)) {
    faults.push(`${file.id} runs on behalf of ${forWhom}, whose own signature counts for it`);
  }
  return faults;
};
