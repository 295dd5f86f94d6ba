import {
  answerText,
  groupedBy,
  isDenied,
  isOfTheEdge,
  isSubmission,
  outcomeOf,
  textOf,
  type ActionFile,
  type Dossier,
  type KeyedCall,
} from '../dossier.js';
import type { UpstreamRequest } from '../evidence.js';

/** The first, and at most two more (rule EXEC-2). */
const REPEATABLE_MAX = 3;

const byAction = ({ evidence }: Dossier): ReadonlyMap<string, readonly UpstreamRequest[]> =>
  groupedBy(evidence.upstream, ({ action }) => action ?? '');

const toolOf = ({ submitted }: ActionFile): string => textOf(submitted?.['tool']);

/**
 * INV-02. Of a `once` tool at most one request reached the upstream; of others three, all under one `Idempotency-Key` where
 * the tool carries it; each named an action of the log.
 */
export const atMostOnce = (dossier: Dossier): readonly string[] => {
  const { evidence, actions } = dossier;
  const faults: string[] = [];
  for (const [id, requests] of byAction(dossier)) {
    const file = actions.get(id);
    if (!file) {
      faults.push(
        `${requests.length} requests reached the upstream under the action "${id}", which the log does not know`,
      );
      continue;
    }
    const terms = evidence.tools[toolOf(file)];
    const most = terms?.class === 'repeatable' ? REPEATABLE_MAX : 1;
    if (requests.length > most) {
      faults.push(`${id} (${toolOf(file)}) reached the upstream ${requests.length} times, and may at most ${most}`);
    }
    faults.push(...repeatKeyFaults(file, requests, terms?.isKeyed === true));
    if (isDenied(file)) faults.push(`${id} (${toolOf(file)}) was refused and reached the upstream`);
    if (requests.length > file.attempts.length) {
      faults.push(
        `${id} reached the upstream ${requests.length} times, and the log tells of ${file.attempts.length} claims`,
      );
    }
  }
  return faults;
};

/** By it the upstream knows that a request repeats another: of one action it is the same, and nobody else's. */
const repeatKeyFaults = (
  file: ActionFile,
  requests: readonly UpstreamRequest[],
  isKeyed: boolean,
): readonly string[] => {
  const keys = new Set(requests.map(({ repeatKey }) => repeatKey));
  if (!isKeyed || (keys.size === 1 && keys.has(file.id))) return [];
  return [
    `${file.id} (${toolOf(file)}) reached the upstream under ${[...keys].map((key) => key ?? 'no key').join(', ')}`,
  ];
};

/**
 * INV-03. `succeeded` was applied, `failed` was not; what nobody can know is `unknown`. A read has nothing to apply. What is
 * read back as done was done; the upstream here does no other thing than what it was asked. Where nothing was wrong, what the
 * upstream said is known.
 */
export const outcomesAreTrue = (dossier: Dossier): readonly string[] => {
  const requests = byAction(dossier);
  const isUndisturbed = undisturbedIn(dossier);
  return [...dossier.actions.values()].flatMap((file) => {
    // What an edge said of itself, no upstream of ours can contradict.
    if (isOfTheEdge(file)) return [];
    const status = outcomeOf(file)?.['status'];
    const sent = requests.get(file.id) ?? [];
    if (isUndisturbed(file)) {
      const faults = undisturbedFaults(file, sent);
      if (faults.length > 0) return faults;
    }
    const applied = sent.filter(({ isApplied }) => isApplied).length;
    if (status === 'succeeded' && applied === 0) {
      return [`${file.id} (${toolOf(file)}) is called succeeded, and the upstream applied nothing`];
    }
    const verdict = file.witnesses.find(({ data }) => data['level'] === 'L1')?.data['verdict'];
    if ((verdict === 'VERIFIED' && applied === 0) || verdict === 'MISMATCH') {
      return [`${file.id} (${toolOf(file)}) was read back as ${verdict}, and the upstream applied ${applied}`];
    }
    const isRead = dossier.evidence.tools[toolOf(file)]?.isRead === true;
    if (status === 'failed' && applied > 0 && !isRead) {
      return [`${file.id} (${toolOf(file)}) is called failed, and the upstream applied it`];
    }
    return [];
  });
};

/** Whether no fault was ordered after it could have begun. An action that no submission of here named is not known to be so. */
const undisturbedIn = ({ evidence, tellings, keys }: Dossier): ((file: ActionFile) => boolean) => {
  const lastDisturbed = evidence.calls.findLast(({ isUnderFault }) => isUnderFault)?.number ?? 0;
  const begun = new Map<string, number>();
  for (const { call, action } of tellings) if (isSubmission(call)) begun.set(action, call.number);
  for (const calls of keys) {
    const { number } = (calls[0] as KeyedCall).call;
    for (const { action } of calls) if (action !== null) begun.set(action, number);
  }
  return ({ id }) => (begun.get(id) ?? 0) > lastDisturbed;
};

/**
 * By the first digit of what the upstream answered (docs/connectors-rest.md). 3xx and 5xx leave it open, and 4xx does where an
 * earlier attempt may have been applied.
 */
const OUTCOMES: Readonly<Record<number, string>> = { 2: 'succeeded', 4: 'failed' };

const undisturbedFaults = (file: ActionFile, sent: readonly UpstreamRequest[]): readonly string[] => {
  const status = textOf(outcomeOf(file)?.['status']);
  if (status === '') return [];
  const last = sent.at(-1);
  if (last === undefined) {
    return [`${file.id} (${toolOf(file)}) is called ${status} and was never sent, while nothing was wrong`];
  }
  const due = OUTCOMES[Math.floor((last.answered ?? 0) / 100)] ?? status;
  const isOpen = due === 'failed' && sent.length > 1;
  if (isOpen || status === due) return [];
  return [
    `${file.id} (${toolOf(file)}) was answered with ${String(last.answered)} while nothing was wrong, and is called ${status}`,
  ];
};

/** INV-07. A key leads to one action, one execution and one effect, and to no other request. */
export const keysAreIdempotent = ({ evidence, actions, keys }: Dossier): readonly string[] => {
  const faults = keys.flatMap((calls) => [...keyFaults(calls), ...ownRequestFaults(calls)]);
  for (const [hash, files] of groupedBy([...actions.values()], keyHashOf)) {
    if (hash !== '' && files.length > 1)
      faults.push(`one key led to ${files.length} actions: ${files.map(({ id }) => id).join(', ')}`);
  }
  for (const [effect, requests] of groupedBy(evidence.upstream, (request) => request.effect)) {
    const ids = new Set(requests.map(({ action }) => action));
    if (ids.size > 1)
      faults.push(`the effect ${effect} of one key was sent under ${ids.size} actions: ${[...ids].join(', ')}`);
  }
  return faults;
};

const keyHashOf = ({ submitted }: ActionFile): string => {
  const hash = textOf(submitted?.['idempotency_key_hash']);
  return hash === '' ? '' : `${textOf(submitted?.['agent'])} ${hash}`;
};

const keyFaults = (calls: readonly KeyedCall[]): readonly string[] => {
  const key = calls[0]?.call.idempotencyKey ?? '';
  const ids = new Set(calls.flatMap(({ action }) => (action === null ? [] : [action])));
  const faults = ids.size > 1 ? [`the key ${key} led to ${ids.size} actions: ${[...ids].join(', ')}`] : [];
  for (const { call, action } of calls) {
    const earlier = calls.find((other) => other.action !== null && other.call.endedMs <= call.beganMs);
    if (!earlier || !call.answer) continue;
    const isSame = earlier.call.request === call.request;
    if (!isSame && call.answer.status !== 422 && call.answer.status !== 503) {
      faults.push(
        `the key ${key} came with another request in call ${call.number}, and got ${call.answer.status}, not 422`,
      );
    }
    if (isSame && action !== null && call.answer.headers['service-idempotent-replayed'] !== 'true') {
      faults.push(
        `the key ${key} had led to ${action}, and the answer to call ${call.number} does not say that it is a replay`,
      );
    }
  }
  return faults;
};

/**
 * The request that a key belongs to is answered with its action, the first time and each time again: a duplicate waits
 * for the first, and there is no 409 (rule GATE-12). Under a fault there may be no answer, or a 5xx, which INV-19
 * judges.
 */
const ownRequestFaults = (calls: readonly KeyedCall[]): readonly string[] => {
  const own = ownRequest(calls);
  return calls
    .filter(({ call, action }) => call.request === own && action === null && (call.answer?.status ?? 500) < 500)
    .map(
      ({ call }) =>
        `the key ${call.idempotencyKey ?? ''} came with its own request in call ${call.number}, and got ` +
        `${answerText(call)}, which names no action`,
    );
};

/** Of the first call that led to an action; where none did, the only one there is, and null of several. */
const ownRequest = (calls: readonly KeyedCall[]): string | null => {
  const owner = calls.find(({ action }) => action !== null);
  const [only, ...others] = new Set(calls.map(({ call }) => call.request));
  return owner?.call.request ?? (others.length === 0 ? (only ?? null) : null);
};
