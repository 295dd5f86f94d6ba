import { CALL_MODES, SIDE_EFFECTS } from '../../kernel/index.js';
import { STATEMENT_KINDS } from '../policy-input.js';
import { fromCall, type Size, textSize } from './sizes.js';
import { BOOL, type CelType, DYN, type Field, INT, listOf, mapOf, nullable, STRING, TIMESTAMP } from './types.js';

const always = (type: CelType, meaning: string): Field => ({ type, presence: 'always', meaning });
const optional = (type: CelType, suppliedBy: readonly string[], meaning: string): Field => ({
  type,
  presence: 'optional',
  suppliedBy,
  meaning,
});
const unavailable = (meaning: string): Field => ({ type: DYN, presence: 'unavailable', meaning });
const orNull = (type: CelType, meaning: string): Field => always(nullable(type), meaning);
const record = (name: string, fields: Readonly<Record<string, Field>>): CelType => ({ kind: 'record', name, fields });

/** A name that an expression may read. */
export interface Variable extends Field {
  /** The largest value it can have. */
  readonly size: Size;
}

/** Every variable of one kind of expression, by name. */
export type Vocabulary = Readonly<Record<string, Variable>>;

const variable = (type: CelType, size: Size, meaning: string): Variable => ({ ...always(type, meaning), size });

/** The whole of the arguments (rule FORM-7: 256 KiB). */
const ARGUMENTS = fromCall(262_144);
/** The whole of what a tool answered (rule REST-12: 1 MiB). */
const ANSWER = fromCall(1_048_576);
/** Texts of the service itself: names, ids, labels, paths. */
const OWN_TEXTS_MAX_CHARACTERS = 8_192;
const OWN_TEXT = textSize(OWN_TEXTS_MAX_CHARACTERS);
const OWN_TEXTS = fromCall(OWN_TEXTS_MAX_CHARACTERS);

/** Every variable of a condition. The table in docs/policy-language.md is compared with this one by a test. */
export const FACTS: Vocabulary = {
  tool: variable(STRING, OWN_TEXT, 'the qualified name, <connector>.<tool>'),
  args: variable(mapOf(DYN), ARGUMENTS, 'the arguments as the agent sent them'),
  agent: variable(
    record('agent', {
      id: always(STRING, 'the id of the agent'),
      name: always(STRING, 'the name of the agent'),
      labels: always(mapOf(STRING), 'the labels of the agent'),
    }),
    OWN_TEXTS,
    'the agent that calls',
  ),
  user: variable(
    record('user', { ref: always(nullable(STRING), 'whom the agent acts for; null when nobody was named') }),
    OWN_TEXT,
    'whom the agent acts for',
  ),
  session: variable(
    record('session', { ref: always(nullable(STRING), 'the session the agent named; null when it named none') }),
    OWN_TEXT,
    'the session of the call',
  ),
  intent: variable(
    record('intent', { signed: always(BOOL, 'whether the call carried a valid signed intent') }),
    OWN_TEXT,
    'the signed intent of the call',
  ),
  mode: variable({ kind: 'string', oneOf: CALL_MODES }, OWN_TEXT, 'who runs the tool: the service or the caller'),
  side_effect: variable({ kind: 'string', oneOf: SIDE_EFFECTS }, OWN_TEXT, 'what the tool may do'),
  now: variable(TIMESTAMP, OWN_TEXT, 'when the service received the call'),
  request: variable(
    record('request', {
      http: optional(
        record('request.http', {
          method: always(STRING, 'the HTTP method, in capitals'),
          path: always(STRING, 'the path as it will be sent, without the query'),
          host: always(STRING, 'the host, with its port when that is not the usual one'),
        }),
        ['rest', 'code_host', 'payments'],
        'the HTTP request the connector would send; absent when the arguments build none',
      ),
      mcp: optional(
        record('request.mcp', {
          protocol: always(STRING, 'the revision of MCP that the server speaks'),
          definition: always(STRING, 'the digest of what the server says of the tool'),
          read_only: always(BOOL, 'the server’s word: the tool changes nothing'),
          destructive: always(BOOL, 'the server’s word: the tool may destroy something'),
          idempotent: always(BOOL, 'the server’s word: a second call changes nothing more'),
          open_world: always(BOOL, 'the server’s word: the tool reaches beyond the server'),
        }),
        ['mcp_http'],
        'what the server of the tool says of it; nothing checks that',
      ),
      sql: optional(
        record('request.sql', {
          kind: always(
            { kind: 'string', oneOf: STATEMENT_KINDS },
            'what the statement does; the gravest where parts of it do several things',
          ),
          tables: always(listOf(STRING), 'every table it reads or changes, as schema.table, in order'),
          statement_count: always({ kind: 'int', oneOf: [1n] }, 'always 1'),
          has_where: always(BOOL, 'whether it updates or deletes, and each time with a WHERE'),
          is_parameterized: always(BOOL, 'whether it has parameters such as $1'),
          functions: always(listOf(STRING), 'every function it calls, in order'),
        }),
        ['database'],
        'what the SQL statement does, by its own text; absent when it is none that may be sent',
      ),
      payments: optional(
        record('request.payments', {
          enriched: always(BOOL, 'whether the processor could be read; if not, all else may be null'),
          charge: orNull(STRING, 'the charge that is refunded'),
          payment_intent: orNull(STRING, 'its payment intent'),
          customer: orNull(STRING, 'whose charge or subscription it is'),
          currency: orNull(STRING, 'what was charged in, three lower-case letters'),
          charge_amount: orNull(INT, 'what was charged, in minor units'),
          amount_refunded: orNull(INT, 'what was refunded before, in minor units'),
          refundable: orNull(INT, 'what is left to refund, in minor units'),
          disputed: orNull(BOOL, 'whether the customer disputes the charge'),
          charge_age_days: orNull(INT, 'whole days since the charge'),
          amount_display: orNull(STRING, 'what is left to refund, or a period costs, as people read it'),
          subscription: orNull(STRING, 'the subscription that is cancelled'),
          status: orNull(STRING, 'its status, in the processor’s word'),
          current_period_end: orNull(STRING, 'when what is paid ends'),
          amount_per_period: orNull(
            INT,
            'what a period costs, in minor units; null where a price has tiers or is metered',
          ),
          interval: orNull(STRING, 'how long a period is, such as month'),
        }),
        ['payments'],
        'what the payments processor says of what the call would change',
      ),
      mail: unavailable('to whom a mail would go'),
    }),
    OWN_TEXTS,
    'what the connector knows before anything is sent',
  ),
};

/** Every variable of a postcondition (rule EXEC-8). */
export const POSTCONDITION_FACTS: Vocabulary = {
  args: variable(mapOf(DYN), ARGUMENTS, 'the arguments as the agent sent them'),
  observation: variable(mapOf(DYN), ANSWER, 'what the read tool answered'),
};
