import type { ConfigSchema } from '../config-schema.js';
import { ARGUMENT_TYPES, REST_LIMITS, REST_METHODS } from './rest-config.js';

const ARGUMENT: ConfigSchema = {
  type: 'object',
  title: 'Argument',
  required: ['in', 'type'],
  additionalProperties: false,
  properties: {
    in: {
      title: 'Where it stands',
      oneOf: [
        { const: 'path', title: 'in the path' },
        { const: 'query', title: 'in the query' },
        { const: 'body', title: 'in the body' },
        { const: 'header', title: 'in a header' },
      ],
    },
    type: { type: 'string', title: 'Type', enum: [...ARGUMENT_TYPES] },
    header: {
      type: 'string',
      title: 'Header',
      description: 'X- and 1 to 64 letters, digits or hyphens.',
      examples: ['X-Request-Source'],
      'x-service-form': { when: { in: ['header'] } },
    },
    description: {
      type: 'string',
      title: 'What it is',
      description: 'Read by agents, and by who approves a call.',
      maxLength: REST_LIMITS.descriptionCharacters,
    },
    money: {
      type: 'object',
      title: 'An amount of money',
      description: 'In minor units, such as cents. Whoever approves a call then reads €80.00 beside 8000.',
      additionalProperties: false,
      properties: {
        currency: {
          type: 'string',
          title: 'Always in this currency',
          description: 'Three lower-case letters.',
          pattern: '^[a-z]{3}$',
          maxLength: 3,
          examples: ['eur'],
        },
        currency_arg: {
          type: 'string',
          title: 'Or in the one that this argument names',
          examples: ['currency'],
        },
      },
      'x-service-form': { when: { type: ['integer'] } },
    },
    required: {
      type: 'boolean',
      title: 'Required',
      default: false,
      'x-service-form': { when: { in: ['query', 'body', 'header'] } },
    },
    sensitive: {
      type: 'boolean',
      title: 'Sensitive: taken out of all that is kept of the answer',
      default: false,
      'x-service-form': { more: true },
    },
    enum: {
      type: 'array',
      title: 'The only values it may have',
      minItems: 1,
      maxItems: REST_LIMITS.enumEntries,
      items: { title: 'Value' },
      'x-service-form': { more: true },
    },
    pattern: {
      type: 'string',
      title: 'Pattern',
      description: 'RE2. Found anywhere in the value, unless it begins with ^ and ends with $.',
      maxLength: REST_LIMITS.patternCharacters,
      'x-service-form': { more: true, when: { type: ['string'] } },
    },
    max_length: {
      type: 'integer',
      title: 'Most characters',
      'x-service-form': { more: true, when: { type: ['string'] } },
    },
    min: {
      type: 'number',
      title: 'Smallest',
      'x-service-form': { more: true, when: { type: ['integer', 'number'] } },
    },
    max: {
      type: 'number',
      title: 'Largest',
      'x-service-form': { more: true, when: { type: ['integer', 'number'] } },
    },
    style: {
      title: 'How a list is written',
      default: 'form',
      oneOf: [
        { const: 'form', title: 'a=x&a=y' },
        { const: 'comma', title: 'a=x,y' },
        { const: 'pipe', title: 'a=x|y, the | encoded' },
        { const: 'space', title: 'a=x y, the space encoded' },
        { const: 'brackets', title: 'a[]=x&a[]=y, the brackets encoded' },
      ],
      'x-service-form': { more: true, when: { in: ['query'], type: ['array'] } },
    },
  },
};

const { readBackAttempts: ATTEMPTS, readBackIntervalMs: INTERVAL_MS } = REST_LIMITS;

const READ_BACK: ConfigSchema = {
  type: 'object',
  title: 'Read back what was written',
  description:
    'Of a tool that writes. Each call is then confirmed by a read (level L1), and the API’s word is not taken.',
  required: ['tool'],
  additionalProperties: false,
  properties: {
    tool: {
      type: 'string',
      title: 'By which tool',
      description: 'One of this connector that reads.',
      'x-service-form': {
        choices: 'tools[].name',
        among: { method: ['GET', 'HEAD'], side_effect: ['', 'read'] },
      },
    },
    args: {
      type: 'object',
      title: 'With these arguments',
      description: 'Values, or what the call had: {{args.id}}, {{result.body.id}}.',
      additionalProperties: { title: 'Value' },
    },
    expect: {
      type: 'object',
      title: 'What it must then show',
      description: 'A path such as body.status, and its value. With none, the thing need only be found.',
      maxProperties: REST_LIMITS.expectPaths,
      additionalProperties: { title: 'Value' },
    },
    consistency: {
      title: 'When a read shows a write',
      default: 'strong',
      oneOf: [
        { const: 'strong', title: 'At once' },
        { const: 'eventual', title: 'After a while: it is read again' },
      ],
      'x-service-form': { more: true },
    },
    attempts: {
      type: 'integer',
      title: 'Reads at most',
      minimum: ATTEMPTS.min,
      maximum: ATTEMPTS.max,
      'x-service-form': { more: true, when: { consistency: ['eventual'] } },
    },
    interval_ms: {
      type: 'integer',
      title: 'Milliseconds between reads',
      minimum: INTERVAL_MS.min,
      maximum: INTERVAL_MS.max,
      default: INTERVAL_MS.fallback,
      'x-service-form': { more: true },
    },
    on_not_found: {
      title: 'Where nothing is found',
      default: 'gap',
      oneOf: [
        { const: 'gap', title: 'Nobody can say: unverifiable' },
        { const: 'violation', title: 'It was not written: mismatch' },
      ],
      'x-service-form': { more: true },
    },
  },
  'x-service-form': { more: true },
};

/** One tool, in the order in which a person describes it. */
export const TOOL_SCHEMA: ConfigSchema = {
  type: 'object',
  title: 'Tool',
  required: ['name', 'method', 'path'],
  additionalProperties: false,
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      description: 'Lower-case letters, digits and _.',
      pattern: '^[a-z][a-z0-9_]{0,63}$',
      examples: ['get_customer'],
    },
    method: { type: 'string', title: 'Method', enum: [...REST_METHODS] },
    path: {
      type: 'string',
      title: 'Path',
      description: 'Under one of the paths above. What changes from call to call is a whole segment in braces: {id}.',
      maxLength: REST_LIMITS.pathCharacters,
      examples: ['/customers/{id}'],
    },
    title: {
      type: 'string',
      title: 'What an agent wants with it',
      description: 'A verb first. Whoever approves a call reads it after "wants to".',
      maxLength: REST_LIMITS.titleCharacters,
      examples: ['refund a customer'],
    },
    description: {
      type: 'string',
      title: 'What it does',
      description: 'Read by agents, and by who approves a call.',
      maxLength: REST_LIMITS.descriptionCharacters,
    },
    args: {
      type: 'object',
      title: 'Arguments',
      description: 'Named as the API names them.',
      maxProperties: REST_LIMITS.args,
      additionalProperties: ARGUMENT,
    },
    readback: READ_BACK,
    postcondition: {
      type: 'string',
      title: 'Extra check on the read',
      description: 'CEL over args and observation, the answer of that read: observation.body.status == "paid"',
      maxLength: REST_LIMITS.postconditionCharacters,
      'x-service-form': { more: true },
    },
    side_effect: {
      title: 'What it does to the system',
      description: 'Left out, it follows from the method: GET and HEAD read, DELETE destroys. It can only be raised.',
      oneOf: [
        { const: 'read', title: 'Only reads' },
        { const: 'write', title: 'Changes something' },
        { const: 'destructive', title: 'Destroys something' },
      ],
      'x-service-form': { more: true },
    },
    idempotent: {
      type: 'boolean',
      title: 'May be sent again without harm',
      'x-service-form': { more: true },
    },
    idempotency_header: {
      type: 'string',
      title: 'Header that keeps a repeated call from counting twice',
      description: 'Where the API has one. It carries the action’s id, and the call may then be sent again.',
      examples: ['Idempotency-Key'],
      'x-service-form': { more: true },
    },
  },
};
