import { CURRENCY_PATTERN } from '#libs/crypto';

import type { FixedArgument, FixedTool } from '../fixed-tool.js';
import { PAYMENTS_LIMITS, REFUND_REASONS } from './payments-config.js';

const ID_CHARACTERS = 255;

const id = (prefixes: readonly string[], what: string): FixedArgument => ({
  type: 'text',
  description: `The id of ${what}, which begins with ${prefixes.join(' or ')}.`,
  maxCharacters: ID_CHARACTERS,
  pattern: {
    of: new RegExp(`^(?:${prefixes.join('|')})[A-Za-z0-9]{1,247}$`),
    rule: `an id that begins with ${prefixes.join(' or ')}`,
  },
});
const required = (argument: FixedArgument): FixedArgument => ({ ...argument, required: true });

const CUSTOMER = id(['cus_'], 'a customer');
const CHARGE = id(['ch_', 'py_'], 'a charge');
const PAYMENT_INTENT = id(['pi_'], 'a payment intent');
const SUBSCRIPTION = id(['sub_'], 'a subscription');

const amount = (description: string): FixedArgument => ({
  type: 'integer',
  description,
  required: true,
  min: 1,
  max: PAYMENTS_LIMITS.amountMax,
});
const CURRENCY: FixedArgument = {
  type: 'text',
  description: 'Three lower-case letters, such as eur.',
  maxCharacters: 3,
  pattern: { of: CURRENCY_PATTERN, rule: 'three lower-case letters, such as eur' },
};

/** Neither controls nor what turns or hides text; what joins emoji may be in it. */
const ONE_LINE = /^(?=.*\S)(?:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\u200d)+$/u;

const LIMIT: FixedArgument = { type: 'integer', description: 'How many at most.', min: 1, max: 25 };
const after = (prefixes: readonly string[]): FixedArgument => id(prefixes, 'the last one of the page before');

/** Members that correlate what we write with its action, and those of other services like this one. */
const RESERVED = /^(?:service|deedglass)_/;

/** Whether a key of metadata is one that no agent may write. */
export const isReservedKey = (key: string): boolean => RESERVED.test(key.normalize('NFKC').trim().toLowerCase());

const READS: readonly FixedTool[] = [
  {
    name: 'get_customer',
    title: 'read a customer of the payments processor',
    description: 'Reads one customer.',
    sideEffect: 'read',
    args: { customer: required(CUSTOMER) },
  },
  {
    name: 'list_charges',
    title: 'list charges',
    description: 'Lists the newest charges, at most 25 at once; of one customer where one is named.',
    sideEffect: 'read',
    args: { customer: CUSTOMER, limit: LIMIT, starting_after: after(['ch_', 'py_']) },
  },
  {
    name: 'get_charge',
    title: 'read a charge',
    description: 'Reads one charge: its amount, what was refunded, whether it is disputed.',
    sideEffect: 'read',
    args: { charge: required(CHARGE) },
  },
  {
    name: 'get_payment_intent',
    title: 'read a payment intent',
    description: 'Reads one payment intent.',
    sideEffect: 'read',
    args: { payment_intent: required(PAYMENT_INTENT) },
  },
  {
    name: 'list_refunds',
    title: 'list refunds',
    description: 'Lists the newest refunds, at most 25 at once; of one charge or payment intent where one is named.',
    sideEffect: 'read',
    args: { charge: CHARGE, payment_intent: PAYMENT_INTENT, limit: LIMIT, starting_after: after(['re_', 'pyr_']) },
    atMostOneOf: ['charge', 'payment_intent'],
  },
  {
    name: 'get_subscription',
    title: 'read a subscription',
    description: 'Reads one subscription.',
    sideEffect: 'read',
    args: { subscription: required(SUBSCRIPTION) },
  },
];

const WRITES: readonly FixedTool[] = [
  {
    name: 'create_refund',
    title: 'refund a payment',
    description:
      'Gives back a part of one payment, or all of it. The amount is in minor units, such as cents: 8000 is €80.00.',
    sideEffect: 'write',
    args: {
      charge: CHARGE,
      payment_intent: PAYMENT_INTENT,
      amount: amount('What is given back, in minor units of the currency that was charged.'),
      currency: {
        ...CURRENCY,
        description: 'The currency that was charged. The refund is refused where it is another one.',
      },
      reason: {
        type: 'text',
        description: 'Why, as the processor knows it.',
        maxCharacters: 64,
        enum: REFUND_REASONS,
      },
    },
    oneOf: ['charge', 'payment_intent'],
    money: { amount: { currency_arg: 'currency' } },
  },
  {
    name: 'create_invoice_item',
    title: 'bill a customer with their next invoice',
    description: 'Adds an item to the next invoice of a customer, or of one of their subscriptions.',
    sideEffect: 'write',
    args: {
      customer: required(CUSTOMER),
      amount: amount('What is billed, in minor units.'),
      currency: required(CURRENCY),
      description: {
        type: 'text',
        description: 'What stands on the invoice, in one line.',
        maxCharacters: 500,
        pattern: { of: ONE_LINE, rule: 'one line of text without control or invisible characters' },
      },
      subscription: SUBSCRIPTION,
    },
    money: { amount: { currency_arg: 'currency' } },
  },
  {
    name: 'update_customer_metadata',
    title: 'change the metadata of a customer',
    description: 'Sets members of a customer’s metadata. An empty text removes a member; all others stay as they are.',
    sideEffect: 'write',
    args: {
      customer: required(CUSTOMER),
      metadata: {
        type: 'texts',
        description: 'The members to set, each a text. Names that begin with service_ or deedglass_ are refused.',
        required: true,
        members: { min: 1, max: 40 },
        keyCharacters: 40,
        maxCharacters: 500,
      },
    },
  },
  {
    name: 'cancel_subscription',
    title: 'cancel a subscription',
    description: 'Ends a subscription with the period that is paid, or at once with at_period_end false.',
    sideEffect: 'destructive',
    args: {
      subscription: required(SUBSCRIPTION),
      at_period_end: { type: 'flag', description: 'Default true: it ends with the period that is paid.' },
    },
  },
];

export const PAYMENTS_TOOLS: readonly FixedTool[] = [...READS, ...WRITES];

const BY_NAME: ReadonlyMap<string, FixedTool> = new Map(PAYMENTS_TOOLS.map((tool) => [tool.name, tool]));

export const paymentsToolNamed = (name: string): FixedTool | null => BY_NAME.get(name) ?? null;
