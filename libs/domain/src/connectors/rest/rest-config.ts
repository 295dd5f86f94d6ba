import type { HttpMethod } from '../http-request.js';
import type { JsonObject, JsonValue } from '#libs/crypto';

import type { MoneyMark, MoneyMarks } from '../../kernel/index.js';
import type { CredentialKind } from '../connector.events.js';
import type { SideEffect } from '../connector-driver.port.js';
import { READ_BACK_ATTEMPTS_MAX, READ_BACK_INTERVAL_MAX_MS } from '../read-back.js';

/** What a config may hold at most (rule REST-1). */
export const REST_LIMITS = {
  configBytes: 65_536,
  baseUrlCharacters: 2_048,
  pathPrefixes: 64,
  pathCharacters: 1_024,
  tools: 64,
  args: 32,
  enumEntries: 256,
  patternCharacters: 1_024,
  descriptionCharacters: 1_024,
  titleCharacters: 80,
  headers: 16,
  headerValueBytes: 1_024,
  timeoutMs: { min: 100, max: 60_000, fallback: 10_000 },
  maxResponseBytes: { min: 1_024, max: 16_777_216, fallback: 4_194_304 },
  readBackAttempts: { min: 1, max: READ_BACK_ATTEMPTS_MAX, strong: 1, eventual: 3 },
  readBackIntervalMs: { min: 100, max: READ_BACK_INTERVAL_MAX_MS, fallback: 300 },
  expectPaths: 32,
  postconditionCharacters: 2_048,
} as const;

export const ARGUMENT_PLACES = ['path', 'query', 'body', 'header'] as const;
export const ARGUMENT_TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array'] as const;

/** How a list travels in a query. */
export const QUERY_STYLES = ['form', 'comma', 'pipe', 'space', 'brackets'] as const;
export type QueryStyle = (typeof QUERY_STYLES)[number];

export interface RestArgument {
  readonly in: (typeof ARGUMENT_PLACES)[number];
  readonly type: (typeof ARGUMENT_TYPES)[number];
  readonly enum?: readonly JsonValue[];
  /** RE2; found anywhere in the value unless anchored. */
  readonly pattern?: string;
  readonly min?: number;
  readonly max?: number;
  /** Characters. */
  readonly max_length?: number;
  readonly required: boolean;
  readonly sensitive: boolean;
  readonly description?: string;
  /** Only lists in the query have it. They always have it since the version that knows it. */
  readonly style?: QueryStyle;
  /** Name of the header a header argument travels in. */
  readonly header?: string;
  /** An amount of money, in minor units. Only integers have it. */
  readonly money?: MoneyMark;
}

/** What each call of a tool spends: always the same, or what the argument says that is named. */
export type RestCost = { readonly amount: number; readonly currency: string } | { readonly arg: string };

export interface ReadBack {
  readonly tool: string;
  /** Literals, or whole-value templates `{{args.<path>}}` and `{{result.body.<path>}}`. */
  readonly args?: JsonObject;
  /** Paths into the read tool's answer, each with the value it must have. */
  readonly expect?: JsonObject;
  readonly consistency: 'strong' | 'eventual';
  readonly attempts: number;
  readonly interval_ms: number;
  readonly on_not_found: 'gap' | 'violation';
}

export interface RestTool {
  readonly name: string;
  /** A verb phrase that goes on after `wants to`. */
  readonly title?: string;
  readonly description?: string;
  readonly method: HttpMethod;
  /** Below the path of `base_url`. */
  readonly path: string;
  readonly side_effect: Exclude<SideEffect, 'unknown'>;
  readonly idempotent: boolean;
  readonly idempotency_header?: string;
  readonly args: Readonly<Record<string, RestArgument>>;
  readonly cost?: RestCost;
  readonly readback?: ReadBack;
  readonly postcondition?: string;
}

export const REST_AUTH_KINDS = [
  'bearer',
  'header',
  'basic',
  'query',
  'none',
] as const satisfies readonly CredentialKind[];

export interface RestAuth {
  readonly kind: (typeof REST_AUTH_KINDS)[number];
  readonly header?: string;
  readonly param?: string;
}

/** A config as stored: every default filled in. Members without a default are absent when they were not given. */
export interface RestConfig {
  readonly base_url: string;
  readonly auth: RestAuth;
  readonly allowed_methods: readonly HttpMethod[];
  readonly allowed_path_prefixes: readonly string[];
  readonly timeout_ms: number;
  readonly max_response_bytes: number;
  readonly redirects: 'none' | 'same_host';
  readonly send_action_id: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly test?: { readonly method: 'GET' | 'HEAD'; readonly path: string };
  readonly tools: readonly RestTool[];
}

/** What the log holds was checked before it was written. */
export const restConfigOf = (stored: JsonObject): RestConfig => stored as unknown as RestConfig;

/** Null where no argument of the tool is an amount. */
export const moneyMarksOf = ({ args }: RestTool): MoneyMarks | null => {
  const marked = Object.entries(args).flatMap(([name, { money }]) => (money === undefined ? [] : [[name, money]]));
  return marked.length === 0 ? null : (Object.fromEntries(marked) as MoneyMarks);
};

/** GET and HEAD read, DELETE is destructive, all others write (rule REST-15). */
export const sideEffectOfMethod = (method: HttpMethod): RestTool['side_effect'] => {
  if (method === 'GET' || method === 'HEAD') return 'read';
  return method === 'DELETE' ? 'destructive' : 'write';
};

/** Whether its calls may be sent more than once (rule EXEC-2). */
export const isRepeatable = (tool: RestTool): boolean =>
  tool.method === 'GET' || tool.method === 'HEAD' || tool.idempotent || tool.idempotency_header !== undefined;
