import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { startUpstream, type SeenRequest } from '../support/upstream.js';
import type { UpstreamRequest } from './evidence.js';

/**
 * What the upstream does with an effect, by the word in its name:
 * - `ok`: applies it and says so, after the milliseconds in the name;
 * - `busy`: the first request gets 503 and nothing is applied, each further one is `ok`;
 * - `refused`: 409, nothing applied;
 * - `doubtful`: applies it and answers 503 all the same;
 * - `lost`: applies nothing and breaks the connection; `gone`: applies it and breaks the connection.
 */
export const MANNERS = ['ok', 'busy', 'refused', 'doubtful', 'lost', 'gone'] as const;
export type Manner = (typeof MANNERS)[number];

/** `effect-<manner>-<ms>-<rest>`: part of a path, and told apart by its end. */
export const effectOf = (manner: Manner, answerMs: number, rest: string): string =>
  `effect-${manner}-${answerMs}-${rest}`;

/** An upstream that writes down what reaches it before it answers, and that can be kept from answering. */
export interface Oracle {
  readonly baseUrl: string;
  readonly requests: readonly UpstreamRequest[];
  /** The next write that is sent once is applied and not answered. Resolves when it is there. */
  holdNextWrite(): Promise<void>;
  /** Takes that back, should it not have come, and answers what is held, should somebody still wait for it. */
  holdNothing(): void;
  close(): Promise<void>;
}

export const startOracle = async (): Promise<Oracle> => {
  const requests: Answerable[] = [];
  const seenOnce = new Set<string>();
  let onHeld: (() => void) | null = null;
  const held: ServerResponse[] = [];
  /** What was set where, for who reads it back. */
  const statuses = new Map<string, string>();
  const tellStatus = ({ path }: SeenRequest, response: ServerResponse): void => {
    const found = statuses.get(path);
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(found ?? '{}');
  };
  const succeed = (response: ServerResponse, status = 200): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end('{"ok":true}');
  const answer = (seen: SeenRequest, response: ServerResponse): void => {
    // A read-back is no request of the call itself, and tells no more than what is there.
    if (seen.method === 'GET' && isStatus(seen)) return tellStatus(seen, response);
    const [effect = '', manner = '', answerMs = '0'] = /effect-([a-z]+)-(\d+)-[a-z0-9]+/.exec(seen.path) ?? [];
    const isFirst = !seenOnce.has(effect);
    seenOnce.add(effect);
    const isApplied = manner !== 'lost' && manner !== 'refused' && !(manner === 'busy' && isFirst);
    const repeatKey = textIn(seen.headers['idempotency-key']);
    if (isApplied && isStatus(seen)) statuses.set(seen.path, seen.body);
    const action = textIn(seen.headers['service-action-id']);
    const request: Answerable = { action, effect, repeatKey, isApplied, answered: null };
    requests.push(request);
    response.once('finish', () => (request.answered = response.statusCode));
    if (onHeld !== null && seen.method !== 'GET' && repeatKey === null && isApplied) {
      onHeld();
      onHeld = null;
      held.push(response);
      return;
    }
    const status = { busy: isFirst ? 503 : 200, refused: 409, doubtful: 503 }[manner] ?? 200;
    void delay(Number(answerMs)).then(() => {
      if (manner === 'lost' || manner === 'gone') response.destroy();
      else succeed(response, status);
    });
  };
  const upstream = await startUpstream(answer);
  return {
    baseUrl: upstream.baseUrl,
    requests,
    holdNextWrite: () => new Promise((resolve) => (onHeld = resolve)),
    holdNothing: () => {
      onHeld = null;
      for (const response of held.splice(0)) succeed(response);
    },
    close: () => upstream.close(),
  };
};

const isStatus = ({ path }: SeenRequest): boolean => path.endsWith('/status');

/** Written down before it is answered, and the answer when it has left. */
type Answerable = Omit<UpstreamRequest, 'answered'> & { answered: number | null };

const textIn = (header: string | string[] | undefined): string | null => (typeof header === 'string' ? header : null);
