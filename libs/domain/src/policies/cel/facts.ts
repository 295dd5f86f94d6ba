import { CALL_MODES, SIDE_EFFECTS } from '../policy-input.js';
import { BOOL, type CelType, DYN, type Field, mapOf, nullable, STRING, TIMESTAMP } from './types.js';

const always = (type: CelType, meaning: string): Field => ({ type, presence: 'always', meaning });
const optional = (type: CelType, meaning: string): Field => ({ type, presence: 'optional', meaning });
const unavailable = (meaning: string): Field => ({ type: DYN, presence: 'unavailable', meaning });
const record = (name: string, fields: Readonly<Record<string, Field>>): CelType => ({ kind: 'record', name, fields });

/** Every variable of a condition. The table in docs/policy-language.md is compared with this one by a test. */
export const FACTS: Readonly<Record<string, Field>> = {
  tool: always(STRING, 'the qualified name, <connector>.<tool>'),
  args: always(mapOf(DYN), 'the arguments as the agent sent them'),
  agent: always(
    record('agent', {
      id: always(STRING, 'the id of the agent'),
      name: always(STRING, 'the name of the agent'),
      labels: always(mapOf(STRING), 'the labels of the agent'),
    }),
    'the agent that calls',
  ),
  user: always(
    record('user', { ref: always(nullable(STRING), 'whom the agent acts for; null when nobody was named') }),
    'whom the agent acts for',
  ),
  session: always(
    record('session', { ref: always(nullable(STRING), 'the session the agent named; null when it named none') }),
    'the session of the call',
  ),
  intent: always(
    record('intent', { signed: always(BOOL, 'whether the call carried a valid signed intent') }),
    'the signed intent of the call',
  ),
  mode: always({ kind: 'string', oneOf: CALL_MODES }, 'who runs the tool: the service or the caller'),
  side_effect: always({ kind: 'string', oneOf: SIDE_EFFECTS }, 'what the tool may do'),
  now: always(TIMESTAMP, 'when the service received the call'),
  request: always(
    record('request', {
      http: optional(
        record('request.http', {
          method: always(STRING, 'the HTTP method, in capitals'),
          path: always(STRING, 'the path as it will be sent, without the query'),
          host: always(STRING, 'the host, with its port when that is not the usual one'),
        }),
        'the HTTP request the connector would send; absent when the arguments build none',
      ),
      sql: unavailable('the SQL statement'),
      payments: unavailable('what the payments processor says'),
    }),
    'what the connector knows before anything is sent',
  ),
};
