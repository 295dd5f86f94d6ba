import type { JsonObject } from '#libs/crypto';

import type { ArgumentFault } from '../connector-driver.port.js';
import type { CallCost } from '../request-facts.js';
import { argumentText, argumentsFaultOfFixed } from '../fixed-tool.js';
import type { HttpRequest } from '../http-request.js';
import { originOf, type PaymentsConfig } from './payments-config.js';
import { isReservedKey, paymentsToolNamed } from './payments-tools.js';

export type PlannedRequest =
  { readonly ok: true; readonly request: HttpRequest } | { readonly ok: false; readonly fault: ArgumentFault };

const USER_AGENT = 'Service-Connectors/1.0';
/** Of the metadata of whatever we write: which action wrote it. */
export const CORRELATION = 'service_action_id';

type Parameter = readonly [name: string, value: string];

/**
 * The request of a call, or why there is none. Pure. Both attempts of a write are the same bytes: nothing in them hangs on
 * the time or on chance.
 * @param action null for a request that is shown, and not sent
 */
export const planPayments = (
  config: PaymentsConfig,
  toolName: string,
  args: JsonObject,
  action: string | null,
): PlannedRequest => {
  const fault = paymentsArgumentsFault(config, toolName, args);
  if (fault !== null) return { ok: false, fault };
  return { ok: true, request: requestOf(config, SHAPES[toolName]?.(args, correlationOf(action)) as Shape, action) };
};

/** What of a call is wrong whoever asks and whatever was charged. */
const paymentsArgumentsFault = (config: PaymentsConfig, toolName: string, args: JsonObject): ArgumentFault | null => {
  const tool = paymentsToolNamed(toolName);
  if (tool === null) return { param: 'tool', message: 'The connector has no such tool.' };
  const fault = argumentsFaultOfFixed(tool, args);
  if (fault !== null) return fault;
  if (toolName === 'update_customer_metadata') return metadataFault(args);
  return toolName === 'create_refund' ? refundFault(config, args) : null;
};

/** Brackets would name another member: a form spells a member of metadata `metadata[name]`. */
const BRACKET = /[[\]]/;

const metadataFault = ({ metadata }: JsonObject): ArgumentFault | null => {
  const names = Object.keys(metadata as JsonObject);
  if (names.some((name) => BRACKET.test(name.normalize('NFKC')))) {
    const message = 'args.metadata has a member with a square bracket in its name, which the processor does not take.';
    return { param: 'args.metadata', message };
  }
  if (!names.some(isReservedKey)) return null;
  return {
    param: 'args.metadata',
    message: 'args.metadata has a member whose name is reserved: none may begin with service_ or deedglass_.',
  };
};

const refundFault = (config: PaymentsConfig, { currency, amount, reason }: JsonObject): ArgumentFault | null => {
  if (typeof reason === 'string' && !config.refund_reasons.some((allowed) => allowed === reason)) {
    const allowed = config.refund_reasons.join(', ');
    const which = allowed === '' ? 'must be left out: this connector allows none' : `must be one of ${allowed}`;
    return { param: 'args.reason', message: `args.reason ${which}.` };
  }
  return typeof currency === 'string' ? limitFault(config, { currency, amount: amount as number }) : null;
};

/** Whether one refund may be so large. Asked by the currency of the call, and again by that of the charge. */
export const limitFault = ({ refund_limits }: PaymentsConfig, { currency, amount }: CallCost): ArgumentFault | null => {
  const limit = Object.hasOwn(refund_limits, currency) ? refund_limits[currency] : undefined;
  if (limit === undefined) {
    return { param: 'args.currency', message: `The connector allows no refunds in ${currency}.` };
  }
  if (amount <= limit) return null;
  return { param: 'args.amount', message: `args.amount must be at most ${limit} for one refund in ${currency}.` };
};

interface Shape {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: readonly Parameter[];
  readonly form?: readonly Parameter[];
}

const given = (args: JsonObject, ...names: readonly string[]): readonly Parameter[] =>
  names.filter((name) => Object.hasOwn(args, name)).map((name) => [name, argumentText(args, name)]);
const correlationOf = (action: string | null): readonly Parameter[] =>
  action === null ? [] : [[`metadata[${CORRELATION}]`, action]];

const read = (path: string): Shape => ({ method: 'GET', path });

const SHAPES: Readonly<Record<string, (args: JsonObject, correlation: readonly Parameter[]) => Shape>> = {
  get_customer: (args) => read(`/v1/customers/${argumentText(args, 'customer')}`),
  get_charge: (args) => read(`/v1/charges/${argumentText(args, 'charge')}`),
  get_payment_intent: (args) => read(`/v1/payment_intents/${argumentText(args, 'payment_intent')}`),
  get_subscription: (args) => read(`/v1/subscriptions/${argumentText(args, 'subscription')}`),
  list_charges: (args) => ({ ...read('/v1/charges'), query: page(args, 'customer') }),
  list_refunds: (args) => ({ ...read('/v1/refunds'), query: page(args, 'charge', 'payment_intent') }),
  create_refund: (args, correlation) => ({
    method: 'POST',
    path: '/v1/refunds',
    form: [...given(args, 'charge', 'payment_intent', 'amount', 'reason'), ...correlation],
  }),
  create_invoice_item: (args, correlation) => ({
    method: 'POST',
    path: '/v1/invoiceitems',
    form: [...given(args, 'customer', 'amount', 'currency', 'description', 'subscription'), ...correlation],
  }),
  update_customer_metadata: (args, correlation) => ({
    method: 'POST',
    path: `/v1/customers/${argumentText(args, 'customer')}`,
    form: [
      ...Object.entries(args['metadata'] as JsonObject).map(([key, value]): Parameter => [
        `metadata[${key}]`,
        value as string,
      ]),
      ...correlation,
    ],
  }),
  cancel_subscription: (args, correlation) => {
    const path = `/v1/subscriptions/${argumentText(args, 'subscription')}`;
    if (args['at_period_end'] !== false) {
      return { method: 'POST', path, form: [['cancel_at_period_end', 'true'], ...correlation] };
    }
    // An immediate cancellation takes no metadata, and keeps a comment.
    const comment = correlation.map(([, action]): Parameter => [
      'cancellation_details[comment]',
      `${CORRELATION} ${action}`,
    ]);
    return { method: 'DELETE', path, query: comment };
  },
};

/** What a list holds at most where the call does not say. */
const PAGE = '10';

const page = (args: JsonObject, ...filters: readonly string[]): readonly Parameter[] => [
  ...given(args, ...filters),
  ['limit', Object.hasOwn(args, 'limit') ? argumentText(args, 'limit') : PAGE],
  ...given(args, 'starting_after'),
];

const requestOf = (
  config: PaymentsConfig,
  { method, path, query, form }: Shape,
  action: string | null,
): HttpRequest => ({
  method,
  origin: originOf(config),
  path,
  query: encoded(query ?? []),
  headers: [
    ['Accept', 'application/json'],
    ['Stripe-Version', config.api_version],
    ['User-Agent', USER_AGENT],
    ...(form === undefined ? [] : [['Content-Type', 'application/x-www-form-urlencoded'] as const]),
    ...(method === 'GET' || action === null ? [] : [['Idempotency-Key', action] as const]),
  ],
  body: form === undefined ? null : encoded(form),
  sensitive: [],
});

const encoded = (parameters: readonly Parameter[]): string =>
  parameters.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');

/** A read beside the calls: of what a call would change, of what one has changed, and of a connection test. */
export const planPaymentsRead = (config: PaymentsConfig, path: string, query: readonly Parameter[] = []): HttpRequest =>
  requestOf(config, { method: 'GET', path, query }, null);
