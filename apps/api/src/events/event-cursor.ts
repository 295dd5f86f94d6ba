import { DomainError } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import { queryProblem } from '../http/query-string.js';

/** Where a client's stream broke off. Of one instance: another knows nothing of its events. */
export interface EventCursor {
  readonly instance: string;
  readonly seq: bigint;
}

const LAST_EVENT_ID_HEADER = 'Last-Event-ID';
const PARAMETER = 'last_event_id';

/** `<instance>.<seq>` (rule EVENT-1). */
const CURSOR = /^([a-z0-9]{1,32})\.([0-9]{1,19})$/;
const FORM =
  'must be what a stream said in a line `id:`, such as 4f1a9c2e7b0d8c3a.81234; the evt_ id of an event is none';

/**
 * The header wins, since a client that reconnects by itself sends the parameter of its first request again. Both are judged.
 * @throws {DomainError} validation_failed, param `last_event_id` or `Last-Event-ID`
 */
export const cursorOf = (exchange: Exchange, parameter: string | undefined): EventCursor | null => {
  const asked = parameter === undefined ? null : parse(parameter);
  if (parameter !== undefined && asked === null) throw queryProblem(PARAMETER, FORM);
  const sent = exchange.headerValues(LAST_EVENT_ID_HEADER);
  if (sent.length === 0) return asked;
  const resumed = sent.length === 1 ? parse(sent[0] as string) : null;
  if (resumed !== null) return resumed;
  const problem = sent.length === 1 ? `${FORM}.` : 'must be sent at most once. Send it once or leave it out.';
  throw new DomainError('validation_failed', {
    param: LAST_EVENT_ID_HEADER,
    message: `The header ${LAST_EVENT_ID_HEADER} ${problem}`,
  });
};

const parse = (text: string): EventCursor | null => {
  const [, instance, seq] = CURSOR.exec(text) ?? [];
  return instance === undefined || seq === undefined ? null : { instance, seq: BigInt(seq) };
};
