import type { JsonObject, JsonValue } from '#libs/crypto';
import { argumentText, type CallOutcome, failedOutcome, type LiveConnector } from '#libs/domain/connectors';
import {
  paymentsConfigOf,
  planPaymentsRead,
  type SeenCharge,
  seenCharge,
  seenSubscription,
} from '#libs/domain/connectors/payments';
import type { Clock } from '#libs/domain/kernel';

import type { HttpCall } from '../http-caller.js';
import type { EndedPayment, PaymentsLine } from './payments-line.js';
import { Remembered } from './remembered.js';

/** How long a charge counts as it was seen: for the facts of a decision, and for the refund that follows. */
const SEEN_FOR_MS = 30_000;
const SEEN_MAX = 10_000;

/** A read that nobody repeats. */
const ONCE = 3;

export type Reader = Pick<HttpCall, 'org' | 'connector' | 'deadlineMonotonicMs' | 'mayStillSend'>;

/** What was read, or why it could not be. `isRemembered`: it was read for an earlier question. */
export type SeenPayment<Seen> =
  { readonly seen: Seen; readonly isRemembered: boolean } | { readonly seen: null; readonly outcome: CallOutcome };

/** Reads beside the calls of a connector: what facts are made of, what a refund rests on, and what a test asks. */
export class PaymentsReader {
  private readonly charges: Remembered<SeenCharge>;
  private readonly subscriptions: Remembered<JsonObject>;

  constructor(
    private readonly line: PaymentsLine,
    clock: Clock,
  ) {
    const limits = { ageMs: SEEN_FOR_MS, entries: SEEN_MAX };
    this.charges = new Remembered(clock, limits);
    this.subscriptions = new Remembered(clock, limits);
  }

  /** For a decision: one read for all who ask at once. */
  chargeOf(reader: Reader, args: JsonObject, mayBeRemembered: boolean): Promise<SeenPayment<SeenCharge>> {
    return this.seen(this.charges, { reader, args, mayBeRemembered, isShared: true }, (ended) =>
      seenCharge(chargeIn(ended.body), args),
    );
  }

  /** For a refund, which waits for nobody else's read and has its own time and its own Stop. */
  chargeToRefund(reader: Reader, args: JsonObject): Promise<SeenPayment<SeenCharge>> {
    return this.seen(this.charges, { reader, args, mayBeRemembered: true, isShared: false }, (ended) =>
      seenCharge(chargeIn(ended.body), args),
    );
  }

  /** For a decision, as {@link chargeOf}. */
  subscriptionOf(reader: Reader, args: JsonObject, mayBeRemembered: boolean): Promise<SeenPayment<JsonObject>> {
    return this.seen(this.subscriptions, { reader, args, mayBeRemembered, isShared: true }, (ended) =>
      seenSubscription(ended.body, args),
    );
  }

  /** What was refunded of a charge is another sum now, or may be. */
  forgetCharge(id: string): void {
    this.charges.forget((charge) => charge.id === id);
  }

  forgetSubscription(id: string): void {
    this.subscriptions.forget((subscription) => subscription['id'] === id);
  }

  /** It is no action's, and is made once. */
  read(
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

  private async seen<Seen extends object>(
    remembered: Remembered<Seen>,
    question: {
      readonly reader: Reader;
      readonly args: JsonObject;
      readonly mayBeRemembered: boolean;
      readonly isShared: boolean;
    },
    seenIn: (ended: EndedPayment) => Seen | null,
  ): Promise<SeenPayment<Seen>> {
    const { reader, args, mayBeRemembered, isShared } = question;
    const name = nameOf(reader.connector, args);
    const known = mayBeRemembered ? remembered.known(name) : null;
    if (known !== null) return { seen: known, isRemembered: true };
    let outcome = failedOutcome('connector_unavailable', UNREADABLE);
    const read = async (): Promise<Seen | null> => {
      const ended = await this.read(reader, ...placeOf(args));
      const seen = ended.outcome.status === 'succeeded' ? seenIn(ended) : null;
      if (seen === null) outcome = outcomeOfUnread(ended.outcome);
      return seen;
    };
    const seen = await (isShared ? remembered.readTogether(name, read) : remembered.read(name, read));
    return seen === null ? { seen: null, outcome } : { seen, isRemembered: false };
  }
}

const NAMED = ['charge', 'payment_intent', 'subscription'] as const;
const namedIn = (args: JsonObject): (typeof NAMED)[number] =>
  NAMED.find((name) => Object.hasOwn(args, name)) ?? 'charge';

const nameOf = ({ id, configHash, credential }: LiveConnector, args: JsonObject): string =>
  [id, configHash, credential?.version ?? '', argumentText(args, namedIn(args))].join('/');

type Place = readonly [path: string, query?: readonly (readonly [name: string, value: string])[]];

const placeOf = (args: JsonObject): Place => {
  const named = namedIn(args);
  const path = `/v1/${named}s/${argumentText(args, named)}`;
  return named === 'payment_intent' ? [path, [['expand[]', 'latest_charge']]] : [path];
};

const chargeIn = (body: JsonValue | undefined): JsonValue | undefined => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  return body['object'] === 'payment_intent' ? body['latest_charge'] : body;
};

const UNREADABLE =
  'The payment could not be read at the processor, and nothing was refunded. Submit the call again later.';

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
