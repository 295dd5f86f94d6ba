import type { Config } from '#libs/infra/config';

/** Below a check's own time, so that silence is told as silence. */
const ANSWER_TIMEOUT_MS = 2_500;

/** What the server said, and when, by this machine's clock. */
export interface ServerAnswer {
  readonly status: number;
  /** The members of the body; empty when it is no JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly date: string | null;
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
}

export type Silence =
  /** Nothing listens there. */
  | { readonly kind: 'not_running' }
  /** A port that the fetch standard blocks, for other protocols' sake: nothing was sent. */
  | { readonly kind: 'blocked_port' }
  /** Something is wrong on the way; `said` is the system's own word. */
  | { readonly kind: 'unreachable'; readonly said: string };

const EVERY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Where the service listens, as far as the settings tell. Null with a port that is chosen at every start. */
export const serverAddressOf = ({ baseUrl, host, port }: Config): string | null => {
  if (baseUrl !== null) return baseUrl;
  if (port === 0) return null;
  const name = EVERY_ADDRESS[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
};

/** A service at an address. Follows no redirect: a key goes nowhere else. */
export class Server {
  constructor(readonly address: string) {}

  /** Whether it has shown that it is this deployment's: a key is for nobody else. */
  isOurs = false;

  /** Its health, as the first answer gave it: its Date header serves the clock's check. */
  health: ServerAnswer | null = null;

  async get(path: string, apiKey: string | null = null): Promise<ServerAnswer | Silence> {
    const askedAtMs = Date.now();
    try {
      const response = await fetch(`${this.address}${path}`, {
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        headers: apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` },
      });
      const answeredAtMs = Date.now();
      const body = membersOf(await response.text());
      return { status: response.status, body, date: response.headers.get('date'), askedAtMs, answeredAtMs };
    } catch (error) {
      return silenceOf(error);
    }
  }
}

export const isAnswer = (said: ServerAnswer | Silence): said is ServerAnswer => 'status' in said;

const silenceOf = (error: unknown): Silence => {
  if (!(error instanceof Error)) throw error;
  if (error.name === 'TimeoutError') {
    return { kind: 'unreachable', said: `no answer within ${ANSWER_TIMEOUT_MS / 1_000} s` };
  }
  const { cause } = error;
  if (!(cause instanceof Error)) return { kind: 'unreachable', said: error.message };
  // The fetch standard knows this failure by no code.
  if (cause.message === 'bad port') return { kind: 'blocked_port' };
  const isRefused = 'code' in cause && cause.code === 'ECONNREFUSED';
  return isRefused ? { kind: 'not_running' } : { kind: 'unreachable', said: cause.message };
};

const membersOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
};
