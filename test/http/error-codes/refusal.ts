import { expect } from 'vitest';
import type { IntentReason } from '#libs/crypto';
import type { ErrorCode, ErrorType } from '#libs/domain/kernel';
import type { Answer } from '../../support/service.js';
import type { Stage } from './stage.js';

/** Status, type, code and param. */
export type Verdict = readonly [status: number, type: ErrorType, code: ErrorCode, param: string | null];

/** One rule, and the request that breaks it. */
export interface Refusal {
  /** What is refused. */
  readonly rule: string;
  readonly verdict: Verdict;
  /** Where the words are promised. Everywhere else they may become more exact, as long as they say what to do. */
  readonly message?: string | RegExp;
  /** Of the headers that only some answers have: these, and no other. */
  readonly headers?: Readonly<Record<string, string | RegExp>>;
  /** The one member beyond the six that this refusal has. */
  readonly carries?: 'action' | 'diagnostics' | 'reason';
  /** Of a signed intent: which check refused it (rule INTENT-2). */
  readonly reason?: IntentReason;
  readonly provoke: (stage: Stage) => Promise<Answer>;
}

/** Refusals that need the stage set in a way of their own. */
export interface RefusalGroup {
  readonly title: string;
  readonly enter?: (stage: Stage) => Promise<unknown>;
  readonly leave?: (stage: Stage) => Promise<unknown>;
  readonly refusals: readonly Refusal[];
}

/**
 * Calm sentences with the next step (rule API-2). Of what `param` names it is enough to say what it must be; that it is
 * to be corrected and sent again goes without saying (docs/api-conventions.md).
 */
const WHAT_AND_NEXT = /^[A-Z].*[.] \S.*[.?]$/;
const SENTENCE = /^(?!.*Correct it)\S+ .*[.?]$/;

const MEMBERS = ['type', 'code', 'message', 'param', 'request_id', 'doc_url'];

/** Headers that an answer has for a reason, or not at all. */
const TELLING_HEADERS = ['allow', 'retry-after', 'www-authenticate', 'service-idempotent-replayed', 'etag', 'location'];

/** Holds an answer against the whole of the envelope (rule API-1), member by member. */
export const expectRefusal = (
  answer: Answer,
  { verdict, message, headers = {}, carries, reason }: Omit<Refusal, 'rule' | 'provoke'>,
) => {
  const [status, type, code, param] = verdict;
  const { error } = answer;
  expect([answer.status, error['type'], error['code'], error['param']]).toEqual([status, type, code, param]);
  expect(Object.keys(answer.json)).toEqual(['error']);
  expect(Object.keys(error)).toEqual([...MEMBERS, ...(carries ? [carries] : [])]);
  expect(error['message']).toMatch(param === null ? WHAT_AND_NEXT : SENTENCE);
  if (typeof message === 'string') expect(error['message']).toBe(message);
  if (message instanceof RegExp) expect(error['message']).toMatch(message);
  const isReplay = headers['service-idempotent-replayed'] === 'true';
  if (isReplay) expect(error['request_id']).toMatch(/^req_/);
  else expect(error['request_id']).toBe(answer.headers.get('service-request-id'));
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('access-control-allow-origin')).toBe(null);
  const told = TELLING_HEADERS.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  const expected = Object.entries(headers).map(([name, value]) => [
    name,
    value instanceof RegExp ? (expect.stringMatching(value) as unknown) : value,
  ]);
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(expected));
  if (carries === 'action') expectSealed(error['action'], code);
  if (carries === 'reason') expect(error['reason']).toBe(reason);
  if (carries === 'diagnostics') expect(error['diagnostics']).not.toEqual([]);
};

/** What the gate refused is sealed before it is answered: nothing ran, and the deed is there. */
const expectSealed = (action: unknown, code: string): void =>
  expect(action).toMatchObject({
    object: 'action',
    state: 'sealed',
    ...(code === 'approval_expired'
      ? { status: 'expired', decision: { outcome: 'require_approval' } }
      : { status: 'denied', decision: { outcome: 'deny' } }),
    execution: null,
    witness: null,
    deed: expect.stringMatching(/^deed_/),
  });
