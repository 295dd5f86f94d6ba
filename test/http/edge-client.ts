import { expect } from 'vitest';
import type { TestEdge } from './edge-harness.js';

export const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, or null when there is none. */
  readonly json: Record<string, unknown> | null;
  /** The error of an envelope. */
  readonly error: Record<string, unknown>;
}

const answerOf = async (response: Response): Promise<JsonAnswer> => {
  const text = await response.text();
  const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : null;
  const { status, headers } = response;
  return { status, headers, text, json, error: (json?.['error'] ?? {}) as Record<string, unknown> };
};

/** An ordinary client of an edge under test. */
export const clientOf = (edge: () => TestEdge) => {
  const send = async (method: string, path: string, init: RequestInit = {}): Promise<JsonAnswer> =>
    answerOf(await fetch(`${edge().url}${path}`, { method, ...init }));
  return {
    send,
    get: (path: string, headers: Record<string, string> = {}) => send('GET', path, { headers }),
    post: (path: string, body: string | Uint8Array<ArrayBuffer> | null, headers: Record<string, string> = {}) =>
      send('POST', path, { body, headers: { 'Content-Type': 'application/json', ...headers } }),
  };
};

/** For what happens a moment after the answer, such as a log line; patient, because a busy machine makes moments long. */
export const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 20_000 });
