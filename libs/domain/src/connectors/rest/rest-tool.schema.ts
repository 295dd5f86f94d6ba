import { CURRENCY_PATTERN } from '#libs/crypto';
import type { ConfigSchema } from '../config-schema.js';
import { HTTP_METHODS } from '../http-request.js';
import { ARGUMENT_TYPES, REST_LIMITS } from './rest-config.js';

const ARGUMENT: ConfigSchema = {
  type: 'object',
  title: 'Argument',
  required: ['in', 'type'],
  additionalProperties: false,
  properties: {
    in: {
      title: 'Sent in',
      oneOf: [
        { const: 'path', title: 'the path' },
        { const: 'query', title: 'the query' },
        { const: 'body', title: 'the body' },
        { const: 'header', title: 'a header' },
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
      title: 'Description',
      description: 'Shown to agents and to approvers.',
      maxLength: REST_LIMITS.descriptionCharacters,
    },
    money: {
      type: 'object',
      title: 'Amount of money',
      description: 'In minor units, such as cents. Approvers then read €80.00 beside 8000.',
      additionalProperties: false,
      properties: {
        currency: {
          type: 'string',
          title: 'Fixed currency',
          description: 'Three lower-case letters.',
          pattern: CURRENCY_PATTERN.source,
          maxLength: 3,
          examples: ['eur'],
        },
        currency_arg: {
          type: 'string',
          title: 'Or the argument that names the currency',
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
      title: 'Sensitive: removed from everything that is stored of the answer',
      default: false,
      'x-service-form': { more: true },
    },
    enum: {
      type: 'array',
      title: 'Allowed values',
      minItems: 1,
      maxItems: REST_LIMITS.enumEntries,
      items: { title: 'Value' },
      'x-service-form': { more: true },
    },
    pattern: {
      type: 'string',
      title: 'Pattern',
      description: 'RE2. Matches anywhere in the value; begin with ^ and end with $ to match all of it.',
      maxLength: REST_LIMITS.patternCharacters,
      'x-service-form': { more: true, when: { type: ['string'] } },
    },
    max_length: {
      type: 'integer',
      title: 'Maximum length',
      'x-service-form': { more: true, when: { type: ['string'] } },
    },
    min: {
      type: 'number',
      title: 'Minimum',
      'x-service-form': { more: true, when: { type: ['integer', 'number'] } },
    },
    max: {
      type: 'number',
      title: 'Maximum',
      'x-service-form': { more: true, when: { type: ['integer', 'number'] } },
    },
    style: {
      title: 'List format',
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

const COST: ConfigSchema = {
  type: 'object',
  title: 'What a call spends',
  description: 'For budgets of money. A fixed amount, or the argument that is the amount.',
  additionalProperties: false,
  properties: {
    arg: {
      type: 'string',
      title: 'Argument that is the amount',
      description: 'A required amount of money with a minimum of at least 0.',
      examples: ['amount'],
    },
    amount: {
      type: 'integer',
      title: 'Or a fixed amount',
      description: 'In minor units, such as cents.',
      minimum: 0,
    },
    currency: {
      type: 'string',
      title: 'Currency of the fixed amount',
      description: 'Three lower-case letters.',
      pattern: CURRENCY_PATTERN.source,
      maxLength: 3,
      examples: ['eur'],
    },
  },
  'x-service-form': { more: true },
};

const { readBackAttempts: ATTEMPTS, readBackIntervalMs: INTERVAL_MS } = REST_LIMITS;

const READ_BACK: ConfigSchema = {
  type: 'object',
  title: 'Read back after a write',
  description: 'For a tool that writes. A read then confirms each call (level L1), instead of the API’s own answer.',
  required: ['tool'],
  additionalProperties: false,
  properties: {
    tool: {
      type: 'string',
      title: 'Tool that reads',
      description: 'A tool of this connector that only reads.',
      'x-service-form': {
        choices: 'tools[].name',
        among: { method: ['GET', 'HEAD'], side_effect: ['', 'read'] },
      },
    },
    args: {
      type: 'object',
      title: 'Arguments of the read',
      description: 'Values, or references to the call: {{args.id}}, {{result.body.id}}.',
      additionalProperties: { title: 'Value' },
    },
    expect: {
      type: 'object',
      title: 'Expected values',
      description: 'A path such as body.status, and its value. With none, the read need only succeed.',
      maxProperties: REST_LIMITS.expectPaths,
      additionalProperties: { title: 'Value' },
    },
    consistency: {
      title: 'Consistency of the API',
      default: 'strong',
      oneOf: [
        { const: 'strong', title: 'Strong: a read shows a write at once' },
        { const: 'eventual', title: 'Eventual: read several times' },
      ],
      'x-service-form': { more: true },
    },
    attempts: {
      type: 'integer',
      title: 'Maximum number of reads',
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
      title: 'If nothing is found',
      default: 'gap',
      oneOf: [
        { const: 'gap', title: 'The evidence is unverifiable' },
        { const: 'violation', title: 'The evidence is a mismatch' },
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
    method: { type: 'string', title: 'Method', enum: [...HTTP_METHODS] },
    path: {
      type: 'string',
      title: 'Path',
      description: 'Under one of the allowed paths. An argument is a whole segment in braces: {id}.',
      maxLength: REST_LIMITS.pathCharacters,
      examples: ['/customers/{id}'],
    },
    title: {
      type: 'string',
      title: 'Title',
      description: 'Begins with a verb. Approvers read it after "wants to".',
      maxLength: REST_LIMITS.titleCharacters,
      examples: ['refund a customer'],
    },
    description: {
      type: 'string',
      title: 'Description',
      description: 'Shown to agents and to approvers.',
      maxLength: REST_LIMITS.descriptionCharacters,
    },
    args: {
      type: 'object',
      title: 'Arguments',
      description: 'Named as the API names them.',
      maxProperties: REST_LIMITS.args,
      additionalProperties: ARGUMENT,
    },
    cost: COST,
    readback: READ_BACK,
    postcondition: {
      type: 'string',
      title: 'Extra check on the read',
      description: 'CEL over args and observation, the answer of that read: observation.body.status == "paid"',
      maxLength: REST_LIMITS.postconditionCharacters,
      'x-service-form': { more: true },
    },
    side_effect: {
      title: 'Effect',
      description:
        'By default from the method: GET and HEAD read, DELETE destroys, others write. It can only be raised.',
      oneOf: [
        { const: 'read', title: 'Read' },
        { const: 'write', title: 'Write' },
        { const: 'destructive', title: 'Destructive' },
      ],
      'x-service-form': { more: true },
    },
    idempotent: {
      type: 'boolean',
      title: 'Idempotent: sending it again does no harm',
      'x-service-form': { more: true },
    },
    idempotency_header: {
      type: 'string',
      title: 'Idempotency header',
      description: 'If the API has one. The header carries the action’s id, and the call may then be sent again.',
      examples: ['Idempotency-Key'],
      'x-service-form': { more: true },
    },
  },
};
