import { describe, expect, it } from 'vitest';
import type { ClientAnswer, ClientCall, LoggedEvent, Members } from '../evidence.js';
import { ACTION, answered, at, event, LIMIT_MS, NOTHING, ORG, saidOf } from './given.js';

/** Milliseconds from the end of the faults on. */
const sealed = (acceptedMs: number, sealedMs: number): readonly LoggedEvent[] => [
  event(`action-${ACTION}`, 'ActionSubmitted', { at: at(acceptedMs) }),
  event(`ledger-${ORG}`, 'DeedSealed', {
    kind: 'action',
    action: ACTION,
    issued_at: at(sealedMs),
    body: '{"chain":{}}',
  }),
];

const OWN = '{"tool":"crm.add_note"}';
const NAMED = { json: { object: 'action', id: ACTION } };
const REPLAYED = { ...NAMED, headers: { 'service-idempotent-replayed': 'true' } };
const refusal = (status: number, code: string): Partial<ClientAnswer> => ({ status, json: { error: { code } } });
const CONFLICT = refusal(422, 'idempotency_conflict');
const UNAVAILABLE = refusal(503, 'service_unavailable');

/** Submissions under one key, one after the other; null: the answer was lost. */
const keyed = (...answers: readonly (Partial<ClientAnswer> | null)[]): readonly ClientCall[] =>
  answers.map((answer, index) => ({
    ...answered(answer ?? {}),
    ...(answer === null && { answer: null }),
    number: index + 1,
    idempotencyKey: 'key-1',
    request: OWN,
    beganMs: index * 2,
    endedMs: index * 2 + 1,
  }));

const ofOther = (call: ClientCall): ClientCall => ({ ...call, request: '{"tool":"crm.set_name"}' });
const inPeace = (call: ClientCall): ClientCall => ({ ...call, isUnderFault: false });

describe('INV-07', () => {
  it.each([
    [422, 'idempotency_conflict'],
    [409, 'conflict'],
    [404, 'not_found'],
    [400, 'validation_failed'],
  ])('of a key whose own request is answered with %i %s', (status, code) => {
    const said = [
      `the key key-1 came with its own request in call 2, and got ${status} ${code}, which names no action`,
    ];
    expect(saidOf('INV-07', { calls: keyed(NAMED, refusal(status, code)) })).toEqual(said);
    expect(saidOf('INV-07', { calls: keyed(null, refusal(status, code)) })).toEqual(said);
  });

  it('of none whose own request is replayed, lost, or cannot be answered under a fault', () => {
    expect(saidOf('INV-07', { calls: keyed(null, UNAVAILABLE, NAMED, REPLAYED, null, UNAVAILABLE) })).toEqual([]);
  });

  it('of none that refuses another request, also where that was sent first and came second', () => {
    const [first, second, third] = keyed(CONFLICT, NAMED, CONFLICT) as [ClientCall, ClientCall, ClientCall];
    expect(saidOf('INV-07', { calls: [ofOther(first), second, ofOther(third)] })).toEqual([]);
  });
});

describe('INV-16', () => {
  it.each([
    [-60_000, LIMIT_MS + 1, [`${ACTION} was sealed 12001 ms after the last fault`]],
    [-60_000, LIMIT_MS, []],
    [-60_000, -50_000, []],
    [5_000, LIMIT_MS + 5_000, []],
    [5_000, LIMIT_MS + 5_001, [`${ACTION} was sealed 12001 ms after it was accepted, while nothing was wrong`]],
  ])('of an action that was accepted at %i ms and sealed at %i, counted from the last fault', (from, to, said) => {
    expect(saidOf('INV-16', { events: sealed(from, to) })).toEqual(said);
  });

  it('of a key that leads to no action, though it is sent while nothing is wrong', () => {
    const [first, ...later] = keyed(null, CONFLICT, CONFLICT) as [ClientCall, ...ClientCall[]];
    expect(saidOf('INV-16', { calls: [first, ...later.map(inPeace)] })).toEqual([
      'the key key-1 led to no action, and was sent 2 times while nothing was wrong; at last it got 422 idempotency_conflict',
    ]);
  });

  it('of no key that led to its action before, or was sent only under a fault', () => {
    const calls = keyed(NAMED, UNAVAILABLE).map(inPeace);
    expect(saidOf('INV-16', { calls })).toEqual([]);
    expect(saidOf('INV-16', { calls: keyed(null, UNAVAILABLE) })).toEqual([]);
  });

  it('of a service that is well too late', () => {
    const rest = { ...NOTHING.rest, wellAfterMs: LIMIT_MS + 1 };
    expect(saidOf('INV-16', { rest })).toEqual(['the service was not well 12000 ms after the last fault']);
  });
});

describe('INV-19', () => {
  it('of a process that ended as nobody ordered', () => {
    const processEnds = [
      { code: null, signal: 'SIGKILL', isExpected: true },
      { code: null, signal: 'SIGKILL', isExpected: false },
    ];
    expect(saidOf('INV-19', { processEnds })).toEqual(['a process ended by itself, with SIGKILL']);
  });

  it('of a 500 under a fault, and of none of the refusals that the catalogue has for one', () => {
    const answers = [
      answered({ status: 500, json: { error: { code: 'internal_error' } } }),
      answered({ status: 503, json: { error: { code: 'service_unavailable' } } }),
    ];
    expect(saidOf('INV-19', { calls: answers })).toEqual(['call 1 (POST /v1/actions) got 500 internal_error']);
  });
});

describe('INV-20', () => {
  it('of a code that comes with another status than the catalogue gives it', () => {
    const error = { code: 'conflict', type: 'invalid_request_error' };
    const said = saidOf('INV-20', {
      calls: [answered({ status: 500, json: { error: { ...error, ...REST_OF_ENVELOPE } } })],
    });
    expect(said).toContain('call 1 (POST /v1/actions): conflict came with 500, and has 409');
  });
});

describe('INV-20, Retry-After', () => {
  const saidWith = (status: number, json: Members, retryAfter?: string): readonly string[] => {
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    const said = saidOf('INV-20', { calls: [answered({ status, headers, json })] });
    return said.filter((message) => message.includes('retry-after'));
  };

  it.each([
    [503, 'service_unavailable'],
    [429, 'rate_limited'],
    [429, 'budget_exceeded'],
    [409, 'idempotency_key_in_use'],
  ])('of a %i %s that does not say when to come again', (status, code) => {
    const json = { error: { code } };
    expect(saidWith(status, json)).toEqual([`call 1 (POST /v1/actions): ${status} with no retry-after`]);
    expect(saidWith(status, json, '0')).toEqual(['call 1 (POST /v1/actions): retry-after is 0']);
    expect(saidWith(status, json, '30')).toEqual([]);
  });

  it('of health that is down and does not say when to come again', () => {
    const json = { object: 'health', status: 'down' };
    expect(saidWith(503, json)).toEqual(['call 1 (POST /v1/actions): 503 with no retry-after']);
    expect(saidWith(503, json, '1')).toEqual([]);
    expect(saidWith(200, { object: 'health', status: 'degraded' })).toEqual([]);
  });

  it('of no other code, which promises nothing', () => {
    expect(saidWith(503, { error: { code: 'vault_unavailable' } })).toEqual([]);
    expect(saidWith(504, { error: { code: 'timeout' } })).toEqual([]);
  });
});

const REST_OF_ENVELOPE = { message: '', param: null, request_id: undefined, doc_url: '' };
