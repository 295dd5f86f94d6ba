import type { ConfigPlace } from '../config-keys.js';

const config: ConfigPlace = {
  path: 'config',
  keys: [
    'base_url',
    'auth',
    'allowed_methods',
    'allowed_path_prefixes',
    'timeout_ms',
    'max_response_bytes',
    'redirects',
    'send_action_id',
    'headers',
    'test',
    'tools',
  ],
};

const tool: ConfigPlace = {
  path: 'config.tools[]',
  keys: [
    'name',
    'title',
    'description',
    'method',
    'path',
    'side_effect',
    'idempotent',
    'idempotency_header',
    'args',
    'cost',
    'readback',
    'postcondition',
  ],
  within: config,
};

const argument: ConfigPlace = {
  path: 'config.tools[].args.*',
  keys: [
    'in',
    'type',
    'enum',
    'pattern',
    'min',
    'max',
    'max_length',
    'required',
    'sensitive',
    'description',
    'style',
    'header',
    'money',
  ],
  within: tool,
};

const readback: ConfigPlace = {
  path: 'config.tools[].readback',
  keys: ['tool', 'args', 'expect', 'consistency', 'attempts', 'interval_ms', 'on_not_found'],
  within: tool,
};

/** The keys of a REST config, by the object that holds them (rule REST-1). */
export const REST_PLACES = {
  config,
  auth: { path: 'config.auth', keys: ['kind', 'header', 'param'], within: config },
  test: { path: 'config.test', keys: ['method', 'path'], within: config },
  tool,
  argument,
  money: { path: 'config.tools[].args.*.money', keys: ['currency', 'currency_arg'], within: argument },
  cost: { path: 'config.tools[].cost', keys: ['amount', 'currency', 'arg'], within: tool },
  readback,
} as const satisfies Readonly<Record<string, ConfigPlace>>;
