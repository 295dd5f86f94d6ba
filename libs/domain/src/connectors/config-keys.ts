import { closestName } from '../kernel/index.js';

interface Place {
  readonly path: string;
  readonly keys: readonly string[];
  /** The place that holds it: what is not known here may be a key of that. */
  readonly within?: Place;
}

const config: Place = {
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

const tool: Place = {
  path: 'config.tools[]',
  keys: [
    'name',
    'description',
    'method',
    'path',
    'side_effect',
    'idempotent',
    'idempotency_header',
    'args',
    'readback',
    'postcondition',
  ],
  within: config,
};

const argument: Place = {
  path: 'config.tools[].args.*',
  keys: ['in', 'type', 'enum', 'pattern', 'min', 'max', 'max_length', 'required', 'sensitive', 'description', 'header'],
  within: tool,
};

const readback: Place = {
  path: 'config.tools[].readback',
  keys: ['tool', 'args', 'expect', 'consistency', 'attempts', 'interval_ms', 'on_not_found'],
  within: tool,
};

export type ConfigPlace = 'config' | 'auth' | 'test' | 'tool' | 'argument' | 'readback';

/** Document 3, Connector: the keys of a REST config, by the object that holds them. */
const PLACES: Readonly<Record<ConfigPlace, Place>> = {
  config,
  auth: { path: 'config.auth', keys: ['kind', 'header', 'param'], within: config },
  test: { path: 'config.test', keys: ['method', 'path'], within: config },
  tool,
  argument,
  readback,
};

export const isKnownKey = (key: string, place: ConfigPlace): boolean => PLACES[place].keys.includes(key);

/** Of a key that a place does not have: the next step, as a sentence. */
export const nextAfterUnknownKey = (key: string, place: ConfigPlace): string => {
  const here = PLACES[place];
  const meant = closestName(key, here.keys);
  if (meant !== null) return `Did you mean ${meant}?`;
  for (let outer = here.within; outer !== undefined; outer = outer.within) {
    const elsewhere = closestName(key, outer.keys);
    if (elsewhere !== null) return `Did you mean ${elsewhere}, a key of ${outer.path}?`;
  }
  return `Known are ${here.keys.join(', ')}.`;
};
