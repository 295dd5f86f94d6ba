import type { JsonObject, JsonValue } from '#libs/crypto';

import { isObject } from '../config-reader.js';
import type { ComparedValues, ReadBackTerms, ReadBackVerdict } from '../read-back.js';
import { argumentText } from '../fixed-tool.js';
import { CORRELATION } from './payments-request.js';

/** One read that shows what a write did. */
export interface ConfirmingRead {
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** A list, in which what was written is found by the action's id: nobody knows its own id. */
  readonly isSearch: boolean;
}

/** What keeps a read from being built, as the reason of an UNVERIFIABLE verdict. */
type MissingPart = 'result_missing';

/** Eventual: what was written may show a moment later. */
const CONFIRMATION = { attempts: 3, intervalMs: 1_000 } as const;

const SENTENCES: Readonly<Record<string, { readonly tool: string; readonly sentence: string }>> = {
  create_refund: {
    tool: 'list_refunds',
    sentence: 'Reads the refund and compares amount, currency, payment, status and the action’s id.',
  },
  create_invoice_item: {
    tool: 'get_customer',
    sentence: 'Reads the invoice item and compares customer, amount, currency, text and the action’s id.',
  },
  update_customer_metadata: {
    tool: 'get_customer',
    sentence: 'Reads the customer and compares the members that were set, and the action’s id.',
  },
  cancel_subscription: {
    tool: 'get_subscription',
    sentence: 'Reads the subscription and looks whether it ends as asked, and for the action’s id.',
  },
};

/** Null for a tool that changes nothing. */
export const readBackTermsOf = (toolName: string): ReadBackTerms | null => {
  const known = Object.hasOwn(SENTENCES, toolName) ? SENTENCES[toolName] : undefined;
  return known === undefined ? null : { ...known, ...CONFIRMATION };
};

/** How many of a list are searched: what was written a moment ago is among the newest. */
const SEARCHED = '100';

/**
 * The read that confirms a write.
 * @param result what the write answered, `{status, headers, body}`; null where its outcome is not known
 */
export const planConfirmation = (
  toolName: string,
  args: JsonObject,
  result: JsonObject | null,
): ConfirmingRead | MissingPart => {
  const id = idIn(result?.['body']);
  const at = (path: string): ConfirmingRead => ({ path, query: [], isSearch: false });
  const search = (path: string, ...filters: readonly string[]): ConfirmingRead => {
    const given = filters
      .filter((name) => Object.hasOwn(args, name))
      .map((name) => [name, argumentText(args, name)] as const);
    return { path, query: [...given, ['limit', SEARCHED]], isSearch: true };
  };
  switch (toolName) {
    case 'create_refund':
      return id === null ? search('/v1/refunds', 'charge', 'payment_intent') : at(`/v1/refunds/${id}`);
    case 'create_invoice_item':
      return id === null ? search('/v1/invoiceitems', 'customer') : at(`/v1/invoiceitems/${id}`);
    case 'update_customer_metadata':
      return at(`/v1/customers/${argumentText(args, 'customer')}`);
    case 'cancel_subscription':
      return at(`/v1/subscriptions/${argumentText(args, 'subscription')}`);
    default:
      return 'result_missing';
  }
};

const ID = /^[a-z]{2,8}_[A-Za-z0-9]{1,247}$/;

const idIn = (body: JsonValue | undefined): string | null => {
  const id = isObject(body) ? body['id'] : undefined;
  return typeof id === 'string' && ID.test(id) ? id : null;
};

/** What was written, in the answer of a search: the one that names the action. Null where none does. */
const foundIn = (body: JsonObject, action: string): JsonObject | null => {
  const { data } = body;
  const items = Array.isArray(data) ? data.filter(isObject) : [];
  return items.find((item) => correlationIn(item) === action) ?? null;
};

const correlationIn = ({ metadata }: JsonObject): JsonValue | undefined =>
  isObject(metadata) && Object.hasOwn(metadata, CORRELATION) ? metadata[CORRELATION] : undefined;

/** A write with what was answered to it, as recorded; null where nobody knows. */
export interface ConfirmedWrite {
  readonly toolName: string;
  readonly args: JsonObject;
  readonly action: string;
  readonly result: JsonObject | null;
}

export type JudgedConfirmation = ReadBackVerdict & ComparedValues;

/** What an answer says of the write that it is to confirm. */
export const judgeConfirmation = (
  { isSearch }: Pick<ConfirmingRead, 'isSearch'>,
  { toolName, args, action, result }: ConfirmedWrite,
  body: JsonValue | undefined,
): JudgedConfirmation => {
  if (!isObject(body)) return unverifiable('answer_not_kept');
  const object = isSearch ? foundIn(body, action) : body;
  if (object === null) return unverifiable('not_found');
  if (object['deleted'] === true) return unverifiable('deleted');
  const expected = { ...answeredTerms(toolName, result), ...EXPECTED[toolName]?.(args, action) };
  const compared = comparedWith(expected, object);
  if (isChangedSince(toolName, compared)) return { verdict: 'UNVERIFIABLE', reasons: ['another_action'], ...compared };
  if (compared.differs.length > 0) return { verdict: 'MISMATCH', reasons: compared.differs, ...compared };
  return toolName === 'create_refund'
    ? judgedStatus(object, compared)
    : { verdict: 'VERIFIED', reasons: [], ...compared };
};

/** What a read says that found nothing, or did not come to an answer. */
export const unverifiable = (reason: string): JudgedConfirmation => ({
  verdict: 'UNVERIFIABLE',
  reasons: [reason],
  expected: {},
  observed: {},
  differs: [],
});

/**
 * A refund is one action's alone. A customer and a subscription are written again and again: where all is as it should be
 * and another action is named, that one came later, and nobody can say any more who wrote what.
 */
const isChangedSince = (toolName: string, { differs }: ComparedValues): boolean =>
  SHARED.has(toolName) && differs.length === 1 && CORRELATED.has(differs[0] ?? '');

/** Where an object names the action that wrote it. */
const CORRELATED: ReadonlySet<string> = new Set([`metadata.${CORRELATION}`, 'cancellation_details.comment']);

const SHARED: ReadonlySet<string> = new Set(['update_customer_metadata', 'cancel_subscription']);

/** A refund is on its way or there, waits for the customer, or has come to nothing. */
const judgedStatus = ({ status }: JsonObject, compared: ComparedValues): JudgedConfirmation => {
  const expected = { ...compared.expected, status: 'succeeded or pending' };
  const seen = { ...compared, expected, observed: { ...compared.observed, status: status ?? null } };
  if (status === 'succeeded' || status === 'pending') return { verdict: 'VERIFIED', reasons: [], ...seen };
  if (status === 'failed' || status === 'canceled')
    return { verdict: 'MISMATCH', reasons: ['status'], ...seen, differs: ['status'] };
  return { verdict: 'UNVERIFIABLE', reasons: [status === 'requires_action' ? status : 'status_unknown'], ...seen };
};

type Expectation = (args: JsonObject, action: string) => JsonObject;

const only = (args: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(args, name)).map((name) => [name, args[name] as JsonValue]));

/** What a call left to the processor, and the processor said: of which charge a refund is, and in what. */
const answeredTerms = (toolName: string, result: JsonObject | null): JsonObject => {
  const body = result?.['body'];
  return toolName === 'create_refund' && isObject(body) ? only(body, 'charge', 'currency') : {};
};

const correlated = (action: string): JsonObject => ({ [`metadata.${CORRELATION}`]: action });

/** By paths into the object; a member of metadata that was removed is expected to be null. */
const EXPECTED: Readonly<Record<string, Expectation>> = {
  create_refund: (args, action) => ({
    ...only(args, 'charge', 'payment_intent', 'amount', 'currency'),
    ...correlated(action),
  }),
  create_invoice_item: (args, action) => ({
    ...only(args, 'customer', 'amount', 'currency', 'description', 'subscription'),
    ...correlated(action),
  }),
  update_customer_metadata: ({ customer, metadata }, action) => ({
    id: customer as JsonValue,
    ...Object.fromEntries(
      Object.entries(metadata as JsonObject).map(([key, value]) => [`metadata.${key}`, value === '' ? null : value]),
    ),
    ...correlated(action),
  }),
  cancel_subscription: ({ subscription, at_period_end: atEnd }, action) =>
    atEnd === false
      ? {
          id: subscription as JsonValue,
          status: 'canceled',
          'cancellation_details.comment': `${CORRELATION} ${action}`,
        }
      : { id: subscription as JsonValue, cancel_at_period_end: true, ...correlated(action) },
};

const comparedWith = (expected: JsonObject, object: JsonObject): ComparedValues => {
  const seen = { ...parentsOf(object), ...object };
  const observed = Object.fromEntries(Object.keys(expected).map((path) => [path, valueAt(seen, path)]));
  const differs = Object.keys(expected).filter((path) => observed[path] !== expected[path]);
  return { expected, observed, differs };
};

/** Since version 2025-03-31 an invoice item says in its parent of which subscription it is. */
const parentsOf = ({ object, parent }: JsonObject): JsonObject => {
  if (object !== 'invoiceitem' || !isObject(parent)) return {};
  const { subscription_details: details } = parent;
  return isObject(details) ? only(details, 'subscription') : {};
};

/** The first dot parts; a key of metadata may have more of them. An object in the place of its id counts as the id. */
const valueAt = (object: JsonObject, path: string): JsonValue => {
  const dot = path.indexOf('.');
  const name = dot < 0 ? path : path.slice(0, dot);
  const value = Object.hasOwn(object, name) ? (object[name] as JsonValue) : null;
  if (dot >= 0) return isObject(value) ? memberOf(value, path.slice(dot + 1)) : null;
  const isExpanded = isObject(value) && typeof value['id'] === 'string';
  return isExpanded ? (value['id'] as JsonValue) : value;
};

const memberOf = (object: JsonObject, name: string): JsonValue =>
  Object.hasOwn(object, name) ? (object[name] as JsonValue) : null;
