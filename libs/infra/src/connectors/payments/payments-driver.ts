import { setTimeout as sleep } from 'node:timers/promises';

import { CURRENCY_PATTERN, digestOfJson, type JsonObject, type JsonValue } from '#libs/crypto';
import {
  argumentText,
  type CallCost,
  type CallOutcome,
  type ConnectorCall,
  type ConnectorCheck,
  ConnectorDriver,
  failedOutcome,
  type FactsQuestion,
  type FixedTool,
  inputSchemaOfFixed,
  type LiveConnector,
  nothingToRead,
  type Observation,
  type ReadBackCall,
  type ReadFacts,
  type RequestFacts,
  type RequestPreview,
  type ToolDescription,
} from '#libs/domain/connectors';
import {
  factsOfArguments,
  factsOfCharge,
  factsOfSubscription,
  judgeConfirmation,
  limitFault,
  PAYMENTS_TOOLS,
  paymentsConfigOf,
  paymentsToolNamed,
  planConfirmation,
  planPayments,
  planPaymentsRead,
  readBackTermsOf,
  readsFacts,
  type SeenCharge,
  seenCharge,
  unverifiable,
} from '#libs/domain/connectors/payments';
import type { Clock } from '#libs/domain/kernel';

import type { DriverTools } from '../driver-tools.js';
import { type HttpCall, HttpCaller } from '../http-caller.js';
import { evidenceOf } from '../read-evidence.js';
import { paymentsChecks } from './payments-checks.js';
import { type EndedPayment, PAYMENTS_TIMEOUT_MS, PaymentsLine, type PaymentsWork } from './payments-line.js';
import { Remembered } from './remembered.js';

/** How long a charge counts as it was seen: for the facts of a decision, and for the refund that follows. */
const SEEN_FOR_MS = 30_000;
const SEEN_MAX = 10_000;

/** A read that nobody repeats. */
const ONCE = 3;

type Reader = Pick<HttpCall, 'org' | 'connector' | 'deadlineMonotonicMs' | 'mayStillSend'>;

/** A charge that was read, or why it could not be. */
type ReadCharge = { readonly charge: SeenCharge } | { readonly charge: null; readonly outcome: CallOutcome };

/** Runs the tools of connectors of type `payments`, in the sandbox alone (docs/connectors-payments.md). */
export class PaymentsDriver extends ConnectorDriver {
  override readonly type = 'payments';
  /** A folded config is one object until it changes, and its descriptions go with it. */
  private readonly described = new WeakMap<JsonObject, ReadonlyMap<string, ToolDescription>>();
  private readonly line: PaymentsLine;
  private readonly clock: Clock;
  private readonly charges: Remembered<SeenCharge>;

  constructor({ door, vault, clock, randomness, logger }: Omit<DriverTools, 'sql'>) {
    super();
    this.line = new PaymentsLine(new HttpCaller({ door, vault, clock, randomness, logger }));
    this.clock = clock;
    this.charges = new Remembered(clock, { ageMs: SEEN_FOR_MS, entries: SEEN_MAX });
  }

  override toolOf(connector: LiveConnector, toolName: string): ToolDescription | null {
    return this.describedOf(connector).get(toolName) ?? null;
  }

  override toolsOf(connector: LiveConnector): readonly ToolDescription[] {
    return [...this.describedOf(connector).values()];
  }

  private describedOf({ config }: LiveConnector): ReadonlyMap<string, ToolDescription> {
    const known = this.described.get(config);
    if (known !== undefined) return known;
    const described = new Map(PAYMENTS_TOOLS.map((tool) => [tool.name, describe(config, tool)]));
    this.described.set(config, described);
    return described;
  }

  override requestFacts({ config }: LiveConnector, toolName: string, args: JsonObject): RequestFacts {
    const plan = planPayments(paymentsConfigOf(config), toolName, args, null);
    return plan.ok ? factsOfArguments(toolName, args) : {};
  }

  override previewOf({ config }: LiveConnector, toolName: string, args: JsonObject): RequestPreview {
    const plan = planPayments(paymentsConfigOf(config), toolName, args, null);
    if (!plan.ok) return { request: null, fault: plan.fault.message };
    const { method, origin, path, query, body } = plan.request;
    const shown = [query, body ?? ''].filter((part) => part !== '').join('&');
    return { request: { method, url: `${origin}${path}${shown === '' ? '' : `?${shown}`}` }, fault: null };
  }

  override async readFacts(question: FactsQuestion): Promise<ReadFacts> {
    const { connector, toolName, args, recorded } = question;
    const unread = recorded ?? this.requestFacts(connector, toolName, args);
    if (!planPayments(paymentsConfigOf(connector.config), toolName, args, null).ok) return { facts: unread };
    if (toolName === 'cancel_subscription') return this.subscriptionFacts(question, unread);
    const read = await this.readCharge(question, args);
    if (read.charge === null) return withBreaker(unread, read.outcome);
    return { facts: factsOfCharge(args, read.charge, { nowMs: this.clock.nowMs(), recorded }) };
  }

  private async subscriptionFacts(question: FactsQuestion, unread: RequestFacts): Promise<ReadFacts> {
    const { args } = question;
    const { outcome, body } = await this.read(question, `/v1/subscriptions/${argumentText(args, 'subscription')}`);
    const facts = outcome.status === 'succeeded' ? factsOfSubscription(args, body) : null;
    return facts === null ? withBreaker(unread, outcome) : { facts };
  }

  override async send(call: ConnectorCall): Promise<CallOutcome> {
    const { connector, toolName, args, action } = call;
    const config = paymentsConfigOf(connector.config);
    const plan = planPayments(config, toolName, args, action);
    if (!plan.ok) return failedOutcome('validation_failed', `${plan.fault.message} Nothing was sent.`);
    if (toolName === 'create_refund') {
      const refused = await this.refusalOfRefund(call);
      if (refused !== null) return refused;
    }
    const isRead = paymentsToolNamed(toolName)?.sideEffect === 'read';
    const work: PaymentsWork = { call, config, toolName, isRead, request: plan.request };
    const { outcome, body } = await this.line.send(work);
    if (toolName !== 'create_refund') return outcome;
    // What was refunded of the charge is another sum now, or may be.
    this.charges.forget(nameOfCharge(connector, args));
    const cost = outcome.status === 'succeeded' ? costIn(body) : null;
    return cost === null ? outcome : { ...outcome, cost };
  }

  /**
   * A refund's answer does not say whether its money is real, so its charge must have said so, within half a minute. And
   * limits hold in the currency that was charged, whatever the call says.
   */
  private async refusalOfRefund(call: ConnectorCall): Promise<CallOutcome | null> {
    const { connector, args } = call;
    // Nothing is written by it: it prepares the request that is.
    const read = await this.readCharge({ ...call, mayStillSend: () => call.mayStillSend(true) }, args);
    if (read.charge === null) return read.outcome;
    const { currency, isSandbox } = read.charge;
    if (!isSandbox) return failedOutcome('connector_unavailable', NOT_SAID);
    if (Object.hasOwn(args, 'currency') && args['currency'] !== currency) {
      const message = `args.currency must be the currency that was charged, which is ${currency}. Nothing was refunded.`;
      return failedOutcome('validation_failed', message);
    }
    const fault = limitFault(paymentsConfigOf(connector.config), { amount: Number(args['amount']), currency });
    return fault === null ? null : failedOutcome('validation_failed', `${fault.message} Nothing was refunded.`);
  }

  private async readCharge(reader: Reader, args: JsonObject): Promise<ReadCharge> {
    let outcome = failedOutcome('connector_unavailable', UNREADABLE);
    const charge = await this.charges.read(nameOfCharge(reader.connector, args), async () => {
      const ended = await this.readPayment(reader, args);
      const seen = ended.outcome.status === 'succeeded' ? seenCharge(chargeIn(ended.body)) : null;
      if (seen === null) outcome = outcomeOfUnread(ended.outcome);
      return seen;
    });
    return charge === null ? { charge, outcome } : { charge };
  }

  private readPayment(reader: Reader, args: JsonObject): Promise<EndedPayment> {
    if (Object.hasOwn(args, 'charge')) return this.read(reader, `/v1/charges/${argumentText(args, 'charge')}`);
    const path = `/v1/payment_intents/${argumentText(args, 'payment_intent')}`;
    return this.read(reader, path, [['expand[]', 'latest_charge']]);
  }

  /** Beside the calls: it is no action's, and is made once. */
  private read(
    { org, connector, deadlineMonotonicMs, mayStillSend }: Reader,
    path: string,
    query: readonly (readonly [name: string, value: string])[] = [],
  ): Promise<EndedPayment> {
    const config = paymentsConfigOf(connector.config);
    const call = { org, connector, deadlineMonotonicMs, mayStillSend, action: null, attempt: ONCE } as const;
    return this.line.send({
      call,
      config,
      toolName: path,
      isRead: true,
      request: planPaymentsRead(config, path, query),
    });
  }

  override async observe(write: ReadBackCall): Promise<Observation> {
    const { connector, toolName, args, result, action } = write;
    const plan = planConfirmation(toolName, args, result);
    if (typeof plan === 'string') return nothingToRead(plan);
    const config = paymentsConfigOf(connector.config);
    const request = planPaymentsRead(config, plan.path, plan.query);
    const { outcome, body, answer } = await this.readPatiently({
      call: { ...write, attempt: 1 },
      config,
      toolName,
      isRead: true,
      request,
    });
    const isRead = outcome.status === 'succeeded';
    const judged = isRead
      ? judgeConfirmation(plan, { toolName, args, action }, body)
      : unverifiable(
          outcome.errorCode === 'upstream_not_found' ? 'not_found' : (outcome.errorCode ?? 'internal_error'),
        );
    const { verdict, reasons } = judged;
    const observation = {
      verdict,
      reasons,
      evidence: answer === null || outcome.result === null ? null : evidenceOf(outcome.result, judged, answer.redactor),
      hasAnswer: isRead || reasons[0] === 'not_found',
      mayChange: verdict !== 'VERIFIED',
    };
    return outcome.breaker === undefined ? observation : { ...observation, breaker: outcome.breaker };
  }

  private async readPatiently(work: PaymentsWork): Promise<EndedPayment> {
    const first = await this.line.send(work);
    const { retryAfterMs } = first.outcome;
    if (retryAfterMs === null) return first;
    await sleep(retryAfterMs);
    return this.line.send({ ...work, call: { ...work.call, attempt: 2 } });
  }

  override checks(): readonly ConnectorCheck[] {
    return paymentsChecks((tested, path, query) => this.read({ ...tested, org: tested.connector.org }, path, query));
  }
}

const UNREADABLE =
  'The payment could not be read at the processor, and nothing was refunded. Submit the call again later.';
const NOT_SAID = 'The processor does not say that the payment is one of the sandbox, and nothing was refunded.';

/** What keeps the payment from being read keeps the refund from being sent; what is wrong with the connector is said as it is. */
const outcomeOfUnread = (outcome: CallOutcome): CallOutcome => {
  const { breaker, errorCode, errorMessage, status } = outcome;
  if (breaker !== undefined) return { ...outcome, result: null, retryAfterMs: null };
  if (status === 'succeeded') return failedOutcome('connector_unavailable', UNREADABLE);
  const isTold = errorCode !== 'upstream_error' && errorCode !== 'timeout' && errorCode !== 'response_too_large';
  return isTold && errorCode !== null && errorMessage !== null
    ? failedOutcome(errorCode, errorMessage)
    : failedOutcome('connector_unavailable', UNREADABLE);
};

const withBreaker = (facts: RequestFacts, { breaker }: CallOutcome): ReadFacts =>
  breaker === undefined ? { facts } : { facts, breaker };

const nameOfCharge = ({ id, configHash, credential }: LiveConnector, args: JsonObject): string => {
  const named = argumentText(args, Object.hasOwn(args, 'charge') ? 'charge' : 'payment_intent');
  return [id, configHash, credential?.version ?? '', named].join('/');
};

const chargeIn = (body: JsonValue | undefined): JsonValue | undefined => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  return body['object'] === 'payment_intent' ? body['latest_charge'] : body;
};

const costIn = (body: JsonValue | undefined): CallCost | null => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null;
  const { amount, currency } = body;
  const isCost =
    typeof amount === 'number' && Number.isSafeInteger(amount) && amount >= 0 && typeof currency === 'string';
  return isCost && CURRENCY_PATTERN.test(currency.toLowerCase()) ? { amount, currency: currency.toLowerCase() } : null;
};

const describe = (config: JsonObject, tool: FixedTool): ToolDescription => {
  const readBack = readBackTermsOf(tool.name);
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    sideEffect: tool.sideEffect,
    isRepeatable: true,
    digest: digestOfJson({ config, tool: tool.name }),
    timeoutMs: PAYMENTS_TIMEOUT_MS,
    inputSchema: inputSchemaOfFixed(tool),
    ...(tool.money === undefined ? {} : { money: tool.money }),
    ...(readBack === null ? {} : { readBack }),
    ...(readsFacts(tool.name) ? { readsFacts: true as const } : {}),
    ...(tool.name === 'create_refund' ? { namesCost: true } : {}),
  };
};
