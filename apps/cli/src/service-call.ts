import { parseConfig } from '#libs/infra/config';
import { CliError, EXIT } from './cli-error.js';
import { readApiKey } from './doctor/api-key.js';
import { serverAddressOf } from './doctor/server.js';

/** A test of cases may take 5 s, and a source some tenths of a second. */
const ANSWER_TIMEOUT_MS = 30_000;

export interface ServiceOptions {
  readonly url?: string;
  readonly keyFile?: string;
}

/** What a service said: what was asked for, or what is wrong with what was sent. */
export type ServiceAnswer =
  | { readonly isOk: true; readonly body: Readonly<Record<string, unknown>> }
  | { readonly isOk: false; readonly error: ServiceError };

export interface ServiceError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly diagnostics: readonly unknown[];
}

/** POST. @see askService */
export const callService = (
  options: ServiceOptions,
  path: string,
  body: object,
  timeoutMs = ANSWER_TIMEOUT_MS,
): Promise<ServiceAnswer> => askService(options, { method: 'POST', path, body, timeoutMs });

/** GET. @see askService */
export const readService = (options: ServiceOptions, path: string): Promise<ServiceAnswer> =>
  askService(options, { method: 'GET', path, timeoutMs: ANSWER_TIMEOUT_MS });

interface ServiceRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly timeoutMs: number;
}

/**
 * Sends one request with an API key. Follows no redirect: a key goes nowhere else.
 * @throws {CliError} usage; key_refused; service_unusable: no answer, or none of this service
 */
const askService = async (options: ServiceOptions, request: ServiceRequest): Promise<ServiceAnswer> => {
  const apiKey = await readApiKey(options.keyFile);
  if (apiKey === null) {
    throw new CliError(
      'usage',
      'An API key is needed. Set AGS_API_KEY to an admin key, or name its file with --key-file.',
    );
  }
  const address = options.url ?? serverAddressOf(parseConfig());
  if (address === null) throw new CliError('usage', 'The settings do not say where the service is. Add --url.');
  const { status, json } = await answerOf(address, apiKey, request);
  if ((status === 200 || status === 202) && json !== null) return { isOk: true, body: json };
  const error = errorIn(json);
  if (error === null) {
    throw new CliError(
      'service_unusable',
      `${address} answered with status ${status} and no answer of this service. Check --url.`,
    );
  }
  if (status === 404 && new URL(address).pathname !== '/') {
    throw new CliError('service_unusable', `${address} has no such endpoint. --url ends after the host and the port.`);
  }
  if (status === 401 || status === 403) throw new CliError('key_refused', error.message, EXIT.keyRefused);
  if (status === 429 || status >= 500) throw new CliError('service_unusable', error.message);
  return { isOk: false, error };
};

const answerOf = async (address: string, apiKey: string, { method, path, body, timeoutMs }: ServiceRequest) => {
  try {
    const response = await fetch(`${address}${path}`, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        Authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: membersOf(await response.text()) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const said = error.cause instanceof Error ? error.cause.message : error.message;
    const message = `The service at ${address} does not answer (${said}). Check --url and that it runs, then try again.`;
    throw new CliError('service_unusable', message);
  }
};

const membersOf = (text: string): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
};

const errorIn = (json: Readonly<Record<string, unknown>> | null): ServiceError | null => {
  const error = (json?.['error'] ?? null) as Readonly<Record<string, unknown>> | null;
  if (error === null || typeof error['code'] !== 'string' || typeof error['message'] !== 'string') return null;
  const { code, message, param, diagnostics } = error;
  return {
    code,
    message,
    param: typeof param === 'string' ? param : null,
    diagnostics: Array.isArray(diagnostics) ? diagnostics : [],
  };
};
