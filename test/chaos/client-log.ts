import type { ChaosTarget } from './chaos-target.js';
import type { ClientAnswer, ClientCall, Members } from './evidence.js';

/** Whose key a call carries. */
export interface Caller {
  readonly name: string;
  readonly key: string;
}

export interface Sending {
  readonly caller: Caller | null;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

export interface Received {
  readonly answer: ClientAnswer | null;
  /** As it came, up to where the connection broke. */
  readonly bytes: Buffer;
}

/** Longer than any answer may take, of which a route may take 60 s: what comes later counts as lost. */
const PATIENCE_MS = 65_000;

/** Calls the service, each of its addresses in turn, and writes down what it sent and what came of it. */
export class ClientLog {
  private readonly entries: ClientCall[] = [];
  /** Said by whoever orders faults. */
  isUnderFault = false;

  constructor(private readonly service: Pick<ChaosTarget, 'baseUrls'>) {}

  get calls(): readonly ClientCall[] {
    return this.entries.toSorted((left, right) => left.number - right.number);
  }

  private sent = 0;

  async call(method: string, path: string, { caller, body, idempotencyKey }: Sending): Promise<Received> {
    const number = (this.sent += 1);
    const request = body === undefined ? '' : JSON.stringify(body);
    const [beganMs, beganUnderFault] = [performance.now(), this.isUnderFault];
    const { baseUrls } = this.service;
    const received = await receive(`${baseUrls[number % baseUrls.length] ?? ''}${path}`, {
      method,
      headers: {
        ...(caller === null ? {} : { Authorization: `Bearer ${caller.key}` }),
        ...(request === '' ? {} : { 'Content-Type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      },
      ...(request === '' ? {} : { body: request }),
    });
    const tool = (body as Members | undefined)?.['tool'];
    this.entries.push({
      number,
      method,
      path,
      caller: caller?.name ?? null,
      idempotencyKey: idempotencyKey ?? null,
      request,
      tool: typeof tool === 'string' ? tool : null,
      beganMs,
      endedMs: performance.now(),
      isUnderFault: beganUnderFault || this.isUnderFault,
      answer: received.answer,
    });
    return received;
  }
}

const receive = async (url: string, init: RequestInit): Promise<Received> => {
  const chunks: Uint8Array[] = [];
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
    for await (const chunk of response.body ?? []) chunks.push(chunk as Uint8Array);
    const bytes = Buffer.concat(chunks);
    const headers = Object.fromEntries(response.headers.entries());
    const isJson = headers['content-type']?.startsWith('application/json') ?? false;
    const body = isJson ? bytes.toString('utf8') : '';
    const parsed: unknown = isJson ? JSON.parse(body) : null;
    const json = typeof parsed === 'object' && parsed !== null ? (parsed as Members) : {};
    return { answer: { status: response.status, headers, body, json }, bytes };
  } catch (error) {
    // The connection broke before the answer was whole; what the log holds of it is that there was none.
    if (!(error instanceof TypeError) && !(error instanceof DOMException)) throw error;
    return { answer: null, bytes: Buffer.concat(chunks) };
  }
};
