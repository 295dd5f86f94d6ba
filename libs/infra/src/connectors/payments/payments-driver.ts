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
  type PaymentsConfig,
  type SeenCharge,
  unverifiable,
} from '#libs/domain/connectors/payments';
import type { Clock } from '#libs/domain/kernel';

import type { DriverTools } from '../driver-tools.js';
import { HttpCaller } from '../http-caller.js';
import { evidenceOf } from '../read-evidence.js';
import { paymentsChecks } from './payments-checks.js';
import { type EndedPayment, PAYMENTS_TIMEOUT_MS, PaymentsLine, type PaymentsWork } from './payments-line.js';
import { PaymentsReader } from './payments-reader.js';

/** Runs the tools of connectors of type `payments`, in the sandbox alone (docs/connectors-payments.md). */
export class PaymentsDriver extends ConnectorDriver {
  override readonly type = 'payments';
  /** A folded config is one object until it changes, and its descriptions go with it. */
  private readonly described = new WeakMap<JsonObject, ReadonlyMap<string, ToolDescription>>();
  private readonly line: PaymentsLine;
  private readonly clock: Clock;
  private readonly reader: PaymentsReader;

  constructor({ door, vault, clock, randomness, logger }: Omit<DriverTools, 'sql'>) {
    super();
    this.line = new PaymentsLine(new HttpCaller({ door, vault, clock, randomness, logger }));
    this.clock = clock;
    this.reader = new PaymentsReader(this.line, clock);
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
    if (!plan.ok) return {};
    const { method, path, origin } = plan.request;
    return { http: { method, path, host: new URL(origin).host }, ...factsOfArguments(toolName, args) };
  }

  override previewOf(
    { config: stored }: LiveConnector,
    toolName: string,
    args: JsonObject,
    facts: RequestFacts = {},
  ): RequestPreview {
    const config = paymentsConfigOf(stored);
    const plan = planPayments(config, toolName, args, null);
    if (!plan.ok) return { request: null, fault: plan.fault.message };
    const charged = toolName === 'create_refund' ? (facts.payments?.currency ?? null) : null;
    const fault = charged === null ? null : chargedFault(config, args, charged);
    if (fault !== null) return { request: null, fault };
    const { method, origin, path, query, body } = plan.request;
    const shown = [query, body ?? ''].filter((part) => part !== '').join('&');
    return { request: { method, url: `${origin}${path}${shown === '' ? '' : `?${shown}`}` }, fault: null };
  }

  override async readFacts(question: FactsQuestion): Promise<ReadFacts> {
    const { connector, toolName, args, recorded, mayBeRemembered } = question;
    const unread = recorded ?? this.requestFacts(connector, toolName, args);
    if (!planPayments(paymentsConfigOf(connector.config), toolName, args, null).ok) return { facts: unread };
    if (toolName === 'cancel_subscription') {
      const read = await this.reader.subscriptionOf(question, args, mayBeRemembered);
      if (read.seen === null) return withBreaker(unread, read.outcome);
      return { facts: { ...unread, ...factsOfSubscription(read.seen) }, isRemembered: read.isRemembered };
    }
    const read = await this.reader.chargeOf(question, args, mayBeRemembered);
    if (read.seen === null) return withBreaker(unread, read.outcome);
    const facts = { ...unread, ...factsOfCharge(args, read.seen, { nowMs: this.clock.nowMs(), recorded }) };
    return { facts, isRemembered: read.isRemembered };
  }

  override async send(call: ConnectorCall): Promise<CallOutcome> {
    const { connector, toolName, args, action } = call;
    const config = paymentsConfigOf(connector.config);
    const plan = planPayments(config, toolName, args, action);
    if (!plan.ok) return failedOutcome('validation_failed', `${plan.fault.message} Nothing was sent.`);
    const isRead = paymentsToolNamed(toolName)?.sideEffect === 'read';
    const work: PaymentsWork = { call, config, toolName, isRead, request: plan.request };
    if (toolName === 'create_refund') return this.refund(call, work);
    const { outcome } = await this.line.send(work);
    if (toolName === 'cancel_subscription') this.reader.forgetSubscription(argumentText(args, 'subscription'));
    return outcome;
  }

  /** A refund's answer does not say whether its money is real, so its charge must have said so, within half a minute. */
  private async refund(call: ConnectorCall, work: PaymentsWork): Promise<CallOutcome> {
    const { args } = call;
    // Nothing is written by it: it prepares the request that is.
    const read = await this.reader.chargeToRefund({ ...call, mayStillSend: () => call.mayStillSend(true) }, args);
    if (read.seen === null) return read.outcome;
    const refused = refusalOfRefund(work.config, args, read.seen);
    if (refused !== null) return refused;
    const { outcome, body } = await this.line.send(work);
    this.reader.forgetCharge(read.seen.id);
    const cost = outcome.status === 'succeeded' ? costIn(body) : null;
    return cost === null ? outcome : { ...outcome, cost };
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
      ? judgeConfirmation(plan, { toolName, args, action, result }, body)
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
    return paymentsChecks((tested, path, query) =>
      this.reader.read({ ...tested, org: tested.connector.org }, path, query),
    );
  }
}

/** Limits hold in the currency that was charged, whatever the call says. */
const refusalOfRefund = (
  config: PaymentsConfig,
  args: JsonObject,
  { currency, isSandbox }: SeenCharge,
): CallOutcome | null => {
  if (!isSandbox) return failedOutcome('connector_unavailable', NOT_SAID);
  const fault = chargedFault(config, args, currency);
  return fault === null ? null : failedOutcome('validation_failed', `${fault} Nothing was refunded.`);
};

/** What of a refund does not fit the currency that was charged. */
const chargedFault = (config: PaymentsConfig, args: JsonObject, currency: string): string | null => {
  if (Object.hasOwn(args, 'currency') && args['currency'] !== currency)
    return `args.currency must be the currency that was charged, which is ${currency}.`;
  return limitFault(config, { amount: Number(args['amount']), currency })?.message ?? null;
};

const NOT_SAID = 'The processor does not say that the payment is one of the sandbox, and nothing was refunded.';

const withBreaker = (facts: RequestFacts, { breaker }: CallOutcome): ReadFacts =>
  breaker === undefined ? { facts } : { facts, breaker };

const costIn = (body: JsonValue | undefined): CallCost | null => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null;
  const { amount, currency } = body;
  const isCost =
    typeof amount === 'number' && Number.isSafeInteger(amount) && amount >= 0 && typeof currency === 'string';
  return isCost && CURRENCY_PATTERN.test(currency.toLowerCase()) ? { amount, currency: currency.toLowerCase() } : null;
};

/** The tool as a connector offers it: an agent reads which reasons it may give. */
const ofConfig = (config: JsonObject, tool: FixedTool): FixedTool => {
  const { reason, ...args } = tool.args;
  if (reason?.type !== 'text') return tool;
  const { refund_reasons: allowed } = paymentsConfigOf(config);
  return { ...tool, args: allowed.length === 0 ? args : { ...args, reason: { ...reason, enum: allowed } } };
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
    inputSchema: inputSchemaOfFixed(ofConfig(config, tool)),
    ...(tool.money === undefined ? {} : { money: tool.money }),
    ...(readBack === null ? {} : { readBack }),
    ...(readsFacts(tool.name) ? { readsFacts: true as const } : {}),
    ...(tool.name === 'create_refund' ? { namesCost: true } : {}),
  };
};
