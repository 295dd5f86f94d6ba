import {
  checkArguments,
  CURRENCY_PATTERN,
  type JsonObject,
  type JsonValue,
  MAX_TOOL_BYTES,
  StrictJsonError,
} from '#libs/crypto';
import {
  CALL_MODES,
  type CallMode,
  parseTimestamp,
  SIDE_EFFECTS,
  type SideEffect,
  type Timestamp,
  timestampOf,
} from '../kernel/index.js';
import { didYouMean } from './did-you-mean.js';
import { type PolicyInput, type PolicyRequestFacts, STATEMENT_KINDS } from './policy-input.js';

/** A call that somebody describes in order to try a policy on it. What is left out is completed by {@link completedInput}. */
export interface TrialInput {
  readonly tool: string;
  readonly args: JsonObject;
  readonly agent: PolicyInput['agent'];
  readonly user: PolicyInput['user'];
  readonly session: PolicyInput['session'];
  readonly intent: PolicyInput['intent'];
  readonly mode: CallMode;
  /** Null where it is the tool's own. */
  readonly sideEffect: SideEffect | null;
  /** Null for the moment of the trial. */
  readonly now: Timestamp | null;
  /** Null where it is what the connector would say of these arguments. */
  readonly request: PolicyRequestFacts | null;
}

export interface TrialFault {
  /** For example `input.agent.name`. */
  readonly path: string;
  /** One calm sentence with the next step. */
  readonly message: string;
}

/** What the tool of a call says of itself and of the request; nothing where no connector has it. */
export interface TriedTool {
  readonly sideEffect: SideEffect;
  readonly facts: PolicyRequestFacts;
}

/** Of an agent that a trial says nothing about. */
const SOME_AGENT = { id: 'agt_00000000000000000000000000', name: 'test-agent', labels: {} };

/** As the gate judges it: facts that nobody gave are the tool's, as it is now. */
export const completedInput = (trial: TrialInput, tool: TriedTool | null, now: Timestamp): PolicyInput => ({
  tool: trial.tool,
  args: trial.args,
  agent: trial.agent,
  user: trial.user,
  session: trial.session,
  intent: trial.intent,
  mode: trial.mode,
  side_effect: trial.sideEffect ?? tool?.sideEffect ?? 'unknown',
  now: trial.now ?? now,
  request: trial.request ?? tool?.facts ?? {},
});

/**
 * The members of a policy input, all but `tool` optional; nothing else is taken. A recorded input is one, too.
 * @param path what faults call it
 */
export const readTrialInput = (value: JsonValue, path = 'input'): TrialInput | TrialFault => {
  try {
    return trialInput(value, path);
  } catch (error) {
    if (error instanceof Unfit) return error.fault;
    throw error;
  }
};

export const isFault = (read: TrialInput | TrialFault): read is TrialFault => 'path' in read;

/** Carries a fault out of the nested readers of this file, and no further. */
class Unfit extends Error {
  constructor(readonly fault: TrialFault) {
    super(fault.message);
  }
}

const unfit = (path: string, must: string): Unfit => new Unfit({ path, message: `The field ${path} ${must}.` });

const trialInput = (value: JsonValue, path: string): TrialInput => {
  const members = membersOf(value, path, INPUT_MEMBERS);
  const at = (name: string): string => `${path}.${name}`;
  const tool = members['tool'];
  if (typeof tool !== 'string' || tool === '' || tool.length > MAX_TOOL_BYTES) {
    throw unfit(at('tool'), `must be the name of a tool, <connector>.<tool>, of at most ${MAX_TOOL_BYTES} characters`);
  }
  return {
    tool,
    args: optional(members['args'], {}, (args) => argsAt(args, at('args'))),
    agent: optional(members['agent'], SOME_AGENT, (agent) => agentAt(agent, at('agent'))),
    user: optional(members['user'], { ref: null }, (user) => referenceAt(user, at('user'))),
    session: optional(members['session'], { ref: null }, (session) => referenceAt(session, at('session'))),
    intent: optional(members['intent'], { signed: false }, (intent) => intentAt(intent, at('intent'))),
    mode: optional(members['mode'], 'gateway', (mode) => choiceAt(mode, at('mode'), CALL_MODES)),
    sideEffect: optional(members['side_effect'], null, (effect) => choiceAt(effect, at('side_effect'), SIDE_EFFECTS)),
    now: optional(members['now'], null, (now) => momentAt(now, at('now'))),
    request: optional(members['request'], null, (request) => requestAt(request, at('request'))),
  };
};

const INPUT_MEMBERS = [
  'tool',
  'args',
  'agent',
  'user',
  'session',
  'intent',
  'mode',
  'side_effect',
  'now',
  'request',
] as const;

const optional = <Value>(value: JsonValue | undefined, absent: Value, read: (value: JsonValue) => Value): Value =>
  value === undefined ? absent : read(value);

const objectAt = (value: JsonValue, path: string): JsonObject => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw unfit(path, 'must be an object');
};

/** No larger and no deeper than those of a call (rule FORM-7). */
const argsAt = (value: JsonValue, path: string): JsonObject => {
  const args = objectAt(value, path);
  try {
    checkArguments(args);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw unfit(
      path,
      error.reason === 'depth' ? 'is nested too deeply for a call' : 'is too large for a call: 256 KiB',
    );
  }
  return args;
};

const membersOf = (value: JsonValue, path: string, known: readonly string[]): JsonObject => {
  const object = objectAt(value, path);
  const unknown = Object.keys(object).find((name) => !known.includes(name));
  if (unknown === undefined) return object;
  throw unfit(`${path}.${unknown}`, `is not a field of an input. ${didYouMean(unknown, known).replace(/\.$/, '')}`);
};

const textAt = (value: JsonValue | undefined, path: string): string => {
  if (typeof value === 'string') return value;
  throw unfit(path, 'must be a text');
};

const agentAt = (value: JsonValue, path: string): PolicyInput['agent'] => {
  const { id, name, labels } = membersOf(value, path, ['id', 'name', 'labels']);
  return {
    id: optional(id, SOME_AGENT.id, (text) => textAt(text, `${path}.id`)),
    name: optional(name, SOME_AGENT.name, (text) => textAt(text, `${path}.name`)),
    labels: optional(labels, {}, (each) => labelsAt(each, `${path}.labels`)),
  };
};

const labelsAt = (value: JsonValue, path: string): Readonly<Record<string, string>> => {
  const labels = Object.entries(objectAt(value, path));
  return Object.fromEntries(labels.map(([key, text]) => [key, textAt(text, `${path}.${key}`)]));
};

const referenceAt = (value: JsonValue, path: string): { readonly ref: string | null } => {
  const { ref } = membersOf(value, path, ['ref']);
  return { ref: ref === undefined || ref === null ? null : textAt(ref, `${path}.ref`) };
};

const intentAt = (value: JsonValue, path: string): PolicyInput['intent'] => {
  const { signed } = membersOf(value, path, ['signed']);
  return { signed: flagAt(signed, `${path}.signed`) };
};

const flagAt = (value: JsonValue | undefined, path: string): boolean => {
  if (typeof value === 'boolean') return value;
  throw unfit(path, 'must be true or false');
};

const wholeAt = (value: JsonValue | undefined, path: string): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw unfit(path, 'must be a whole number');
};

const choiceAt = <Choice extends string>(value: JsonValue, path: string, choices: readonly Choice[]): Choice => {
  const choice = choices.find((one) => one === value);
  if (choice !== undefined) return choice;
  throw unfit(path, `must be one of ${choices.join(', ')}`);
};

const momentAt = (value: JsonValue, path: string): Timestamp => {
  const moment = typeof value === 'string' ? parseTimestamp(value) : null;
  if (moment !== null) return timestampOf(moment);
  throw unfit(path, 'must be a moment such as 2026-10-01T12:00:00Z');
};

const requestAt = (value: JsonValue, path: string): PolicyRequestFacts => {
  const { http, mcp, sql, payments, cost } = membersOf(value, path, ['http', 'mcp', 'sql', 'payments', 'cost']);
  return {
    ...(http === undefined ? {} : { http: httpAt(http, `${path}.http`) }),
    ...(mcp === undefined ? {} : { mcp: mcpAt(mcp, `${path}.mcp`) }),
    ...(sql === undefined ? {} : { sql: sqlAt(sql, `${path}.sql`) }),
    ...(payments === undefined ? {} : { payments: paymentsAt(payments, `${path}.payments`) }),
    ...(cost === undefined ? {} : { cost: costAt(cost, `${path}.cost`) }),
  };
};

const httpAt = (value: JsonValue, path: string): NonNullable<PolicyRequestFacts['http']> => {
  const { method, path: sent, host } = membersOf(value, path, ['method', 'path', 'host']);
  return {
    method: textAt(method, `${path}.method`),
    path: textAt(sent, `${path}.path`),
    host: textAt(host, `${path}.host`),
  };
};

const HINTS = ['read_only', 'destructive', 'idempotent', 'open_world'] as const;

const mcpAt = (value: JsonValue, path: string): NonNullable<PolicyRequestFacts['mcp']> => {
  const given = membersOf(value, path, ['protocol', 'definition', ...HINTS]);
  const hintAt = (hint: (typeof HINTS)[number]): boolean => flagAt(given[hint], `${path}.${hint}`);
  return {
    protocol: textAt(given['protocol'], `${path}.protocol`),
    definition: textAt(given['definition'], `${path}.definition`),
    read_only: hintAt('read_only'),
    destructive: hintAt('destructive'),
    idempotent: hintAt('idempotent'),
    open_world: hintAt('open_world'),
  };
};

const SQL_MEMBERS = ['kind', 'tables', 'statement_count', 'has_where', 'is_parameterized', 'functions'] as const;

const sqlAt = (value: JsonValue, path: string): NonNullable<PolicyRequestFacts['sql']> => {
  const given = membersOf(value, path, SQL_MEMBERS);
  if (given['statement_count'] !== undefined && given['statement_count'] !== 1) {
    throw unfit(`${path}.statement_count`, 'must be 1');
  }
  return {
    kind: choiceAt(textAt(given['kind'], `${path}.kind`), `${path}.kind`, STATEMENT_KINDS),
    tables: textsAt(given['tables'], `${path}.tables`),
    statement_count: 1,
    has_where: flagAt(given['has_where'], `${path}.has_where`),
    is_parameterized: flagAt(given['is_parameterized'], `${path}.is_parameterized`),
    functions: textsAt(given['functions'], `${path}.functions`),
  };
};

const textsAt = (value: JsonValue | undefined, path: string): string[] => {
  if (!Array.isArray(value)) throw unfit(path, 'must be a list of texts');
  return value.map((text, index) => textAt(text, `${path}.${String(index)}`));
};

const PAYMENTS_MEMBERS = [
  ...(['enriched', 'charge', 'payment_intent', 'customer', 'currency', 'charge_amount', 'amount_refunded'] as const),
  ...(['refundable', 'disputed', 'charge_age_days', 'amount_display', 'subscription', 'status'] as const),
  ...(['current_period_end', 'amount_per_period', 'interval'] as const),
] as const;

/** What is left out is null, as where the processor does not say it. */
const paymentsAt = (value: JsonValue, path: string): NonNullable<PolicyRequestFacts['payments']> => {
  const given = membersOf(value, path, PAYMENTS_MEMBERS);
  type Name = (typeof PAYMENTS_MEMBERS)[number];
  const orNull = <Value>(name: Name, read: (value: JsonValue, path: string) => Value): Value | null => {
    const member = given[name];
    return member === undefined || member === null ? null : read(member, `${path}.${name}`);
  };
  return {
    enriched: flagAt(given['enriched'], `${path}.enriched`),
    charge: orNull('charge', textAt),
    payment_intent: orNull('payment_intent', textAt),
    customer: orNull('customer', textAt),
    currency: orNull('currency', textAt),
    charge_amount: orNull('charge_amount', wholeAt),
    amount_refunded: orNull('amount_refunded', wholeAt),
    refundable: orNull('refundable', wholeAt),
    disputed: orNull('disputed', flagAt),
    charge_age_days: orNull('charge_age_days', wholeAt),
    amount_display: orNull('amount_display', textAt),
    subscription: orNull('subscription', textAt),
    status: orNull('status', textAt),
    current_period_end: orNull('current_period_end', textAt),
    amount_per_period: orNull('amount_per_period', wholeAt),
    interval: orNull('interval', textAt),
  };
};

const costAt = (value: JsonValue, path: string): NonNullable<PolicyRequestFacts['cost']> => {
  const { amount, currency } = membersOf(value, path, ['amount', 'currency']);
  const spent = wholeAt(amount, `${path}.amount`);
  if (spent < 0) throw unfit(`${path}.amount`, 'must be a whole number, 0 or more, in minor units');
  const code = textAt(currency, `${path}.currency`);
  if (CURRENCY_PATTERN.test(code)) return { amount: spent, currency: code };
  throw unfit(`${path}.currency`, 'must be three lower-case letters, such as eur');
};
