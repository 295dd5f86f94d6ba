import { ERROR_CATALOGUE, type ErrorCode } from '#libs/domain/kernel';
import { groupedBy, membersOf, textOf, type Dossier } from '../dossier.js';
import type { AccessLine, ClientAnswer, ClientCall } from '../evidence.js';

/** INV-15. A byte search of everything that was written or answered. */
export const secretsStaySecret = ({ evidence: { canaries, places } }: Dossier): readonly string[] =>
  canaries.flatMap(({ name, text }) =>
    places.filter(({ bytes }) => bytes.includes(text)).map((place) => `${name} stands in ${place.name}`),
  );

/** INV-19. Without a fault there is no 5xx; under one, none but those that the catalogue has; and no process ends by itself. */
export const inputCausesNoFault = ({ evidence }: Dossier): readonly string[] => {
  const faults = evidence.calls.flatMap((call) => {
    const { status = 0 } = call.answer ?? {};
    if (status < 500) return [];
    const code = textOf(membersOf(call.answer?.json['error'])['code']);
    const isKnown = isHealth(call.answer) || (code !== 'internal_error' && code in ERROR_CATALOGUE);
    const isExcused = call.isUnderFault && isKnown;
    return isExcused
      ? []
      : [`${nameOf(call)} got ${status} ${code}${call.isUnderFault ? '' : ' while nothing was wrong'}`];
  });
  const lost = evidence.calls.filter(({ answer, isUnderFault }) => answer === null && !isUnderFault);
  const asked = new Set(evidence.calls.map(({ answer }) => answer?.headers['service-request-id']));
  const internal = evidence.accessLines.filter(({ status, requestId }) => status === 500 && !asked.has(requestId));
  const ends = evidence.processEnds.filter(({ isExpected }) => !isExpected);
  return [
    ...faults,
    ...lost.map((call) => `${nameOf(call)} got no answer while nothing was wrong`),
    ...internal.map(({ requestId }) => `${requestId} was answered with 500, says the access log`),
    ...ends.map(({ code, signal }) => `a process ended by itself, with ${code ?? signal ?? 'nothing'}`),
    ...unlogged(evidence.calls, evidence.accessLines),
  ];
};

/** What a client was answered while nothing was wrong is in the access log, with the same status. */
export const unlogged = (calls: readonly ClientCall[], accessLines: readonly AccessLine[]): readonly string[] => {
  const lines = new Map(accessLines.map(({ requestId, status }) => [requestId, status]));
  return calls.flatMap((call) => {
    if (call.isUnderFault || call.answer === null) return [];
    const id = call.answer.headers['service-request-id'] ?? '';
    if (id === '' || lines.get(id) === call.answer.status) return [];
    return [
      `${nameOf(call)} got ${call.answer.status}, and the access log says ${lines.get(id) ?? 'nothing'} of ${id}`,
    ];
  });
};

const FIXED_HEADERS: Readonly<Record<string, RegExp>> = {
  'service-request-id': /^req_[0-9A-Za-z]+$/,
  'service-version': /^\d{4}-\d{2}-\d{2}$/,
  'x-content-type-options': /^nosniff$/,
  'referrer-policy': /^no-referrer$/,
  'cache-control': /./,
  'content-type': /./,
};
/** Codes that say when to come again (docs/api-conventions.md), in whole seconds, at least one. */
const SAY_WHEN: ReadonlySet<string> = new Set([
  'service_unavailable',
  'rate_limited',
  'budget_exceeded',
  'idempotency_key_in_use',
]);
const SECONDS = /^[1-9]\d*$/;
const ENVELOPE = ['type', 'code', 'message', 'param', 'request_id', 'doc_url'];

/**
 * INV-20. Every answer has the headers of every answer (rule API-5), an id of its own, and when it is an error the
 * whole envelope.
 */
export const answersAreWhole = ({ evidence: { calls } }: Dossier): readonly string[] => {
  const answered = calls.flatMap((call) => (call.answer === null ? [] : [{ call, answer: call.answer }]));
  const twins = [...groupedBy(answered, ({ answer }) => answer.headers['service-request-id'] ?? '')].filter(
    ([id, sharing]) => id !== '' && sharing.length > 1,
  );
  return [
    ...answered.flatMap(({ call, answer }) => answerFaults(answer).map((fault) => `${nameOf(call)}: ${fault}`)),
    ...twins.map(([id, sharing]) => `${sharing.length} answers have the request id ${id}`),
  ];
};

const answerFaults = ({ headers, status, json }: ClientAnswer): readonly string[] => {
  const faults = Object.entries(FIXED_HEADERS).flatMap(([name, form]) => {
    const value = headers[name];
    if (value === undefined) return [`no ${name}`];
    return form.test(value) ? [] : [`${name} is ${value}`];
  });
  const error = membersOf(json['error']);
  const saysWhen = SAY_WHEN.has(textOf(error['code'])) || (isHealth({ json }) && status === 503);
  const { 'retry-after': when } = headers;
  if (saysWhen && !SECONDS.test(when ?? '')) {
    faults.push(when === undefined ? `${status} with no retry-after` : `retry-after is ${when}`);
  }
  if (status < 400 || isHealth({ json })) return faults;
  const missing = ENVELOPE.filter((member) => !(member in error));
  if (missing.length > 0) return [...faults, `the envelope of ${status} has no ${missing.join(', ')}`];
  const code = textOf(error['code']);
  const known = code in ERROR_CATALOGUE ? ERROR_CATALOGUE[code as ErrorCode] : null;
  if (known?.type !== error['type']) faults.push(`${code} of type ${textOf(error['type'])} is not in the catalogue`);
  if (known !== null && known.status !== status) faults.push(`${code} came with ${status}, and has ${known.status}`);
  if (error['request_id'] !== headers['service-request-id'])
    faults.push('the envelope has another request id than the header');
  return faults;
};

/** Health says `down` or `draining` with 503, and is itself whatever the status. */
const isHealth = (answer: Pick<ClientAnswer, 'json'> | null): boolean => answer?.json['object'] === 'health';

const nameOf = ({ number, method, path }: ClientCall): string => `call ${number} (${method} ${path})`;
