import { describe, expect, it } from 'vitest';

import { canonicalize, digestOfJson, type JsonObject, type JsonValue } from '#libs/crypto';
import type { ReadBackCall } from '#libs/domain/connectors';

import { httpAnswer, jsonAnswer, type RawAnswer } from '../../../../../test/support/raw-upstream.js';
import { ACTION } from './testing/given-call.js';
import { bearer, cleanUpAfterEach, given } from './testing/given-upstream.js';

cleanUpAfterEach();

const tools = (readback: JsonObject): JsonObject[] => [
  {
    name: 'get_refund',
    method: 'GET',
    path: '/v1/refunds/{id}',
    args: { id: { in: 'path', type: 'string' } },
  },
  {
    name: 'refund',
    method: 'POST',
    path: '/v1/refunds',
    args: { amount: { in: 'body', type: 'integer' }, pin: { in: 'body', type: 'string', sensitive: true } },
    readback: { tool: 'get_refund', args: { id: '{{result.body.id}}' }, ...readback },
  },
];

/** One read of the refund `re_1`, as the gate asks for it. */
const observed = async (
  answer: RawAnswer,
  readback: JsonObject,
  changes: Partial<ReadBackCall> & { config?: JsonObject } = {},
) => {
  const { config, ...call } = changes;
  const harness = await given(answer, { config: { tools: tools(readback), ...config }, credential: bearer });
  const { driver, connector, server } = harness;
  const observation = await driver.observe({
    org: connector.org,
    action: ACTION,
    connector,
    toolName: 'refund',
    args: { amount: 500 },
    result: { body: { id: 're_1' } },
    traceparent: null,
    deadlineMonotonicMs: performance.now() + 10_000,
    mayStillSend: () => Promise.resolve(null),
    ...call,
  });
  const { evidence, ...judged } = observation;
  const text = evidence ?? 'null';
  const value = JSON.parse(text) as JsonValue;
  expect(text).toBe(canonicalize(value));
  return { ...judged, evidence: value as JsonObject | null, server, driver, connector };
};

const expectAmount = { expect: { 'body.amount': '{{args.amount}}' } };

describe('REST driver: reading back (rule EXEC-8)', () => {
  it('sends the read as any call of the read tool: its path, credential and action id', async () => {
    const { server, ...seen } = await observed(() => jsonAnswer(200, { amount: 500 }), expectAmount, {
      config: { auth: { kind: 'bearer' } },
    });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.head).toMatch(/^GET \/v1\/refunds\/re_1 HTTP\/1\.1$/m);
    expect(server.requests[0]?.head).toContain('Authorization: Bearer canary-token-0123456789');
    expect(server.requests[0]?.head).toContain(`Service-Action-Id: ${ACTION}`);
    expect(seen).toMatchObject({
      verdict: 'VERIFIED',
      hasAnswer: true,
      mayChange: false,
      evidence: {
        answer: { status: 200, body: { amount: 500 } },
        expected: { 'body.amount': 500 },
        observed: { 'body.amount': 500 },
        differs: [],
      },
    });
  });

  it('another amount is a MISMATCH, shown side by side', async () => {
    const seen = await observed(() => jsonAnswer(200, { amount: 50_000 }), expectAmount);
    expect(seen).toMatchObject({
      verdict: 'MISMATCH',
      reasons: ['body.amount'],
      mayChange: true,
      evidence: { expected: { 'body.amount': 500 }, observed: { 'body.amount': 50_000 }, differs: ['body.amount'] },
    });
  });

  it('a postcondition without an answer says nothing of what is there', async () => {
    const [reader, writer] = tools({}) as [JsonObject, JsonObject];
    const asking = { config: { tools: [reader, { ...writer, postcondition: 'observation.body.no == 1' }] } };
    expect(await observed(() => jsonAnswer(200, {}), {}, asking)).toMatchObject({
      verdict: 'UNVERIFIABLE',
      reasons: ['postcondition_unanswered'],
      hasAnswer: false,
      mayChange: true,
    });
  });

  it('is tried again as any read', async () => {
    let asked = 0;
    const seen = await observed(() => ((asked += 1) === 1 ? jsonAnswer(503, {}) : jsonAnswer(200, {})), {});
    expect(seen).toMatchObject({ verdict: 'VERIFIED' });
    expect(asked).toBe(2);
  });

  it.each<[string, RawAnswer, Partial<ReadBackCall>, string, boolean]>([
    ['404', () => jsonAnswer(404, {}), {}, 'not_found', true],
    ['403', () => jsonAnswer(403, {}), {}, 'upstream_auth_failed', false],
    ['500', () => jsonAnswer(500, {}), {}, 'upstream_error', false],
    ['no answer in time', () => null, { deadlineMonotonicMs: 0 }, 'connector_unavailable', false],
    ['a Stop', () => null, { mayStillSend: () => Promise.resolve('agent_stopped' as const) }, 'agent_stopped', false],
    ['an id that makes no path', () => null, { result: { body: { id: '../x' } } }, 'validation_failed', false],
    ['no result to read by', () => null, { result: null }, 'result_missing', false],
    ['a tool that is gone', () => null, { toolName: 'nobody' }, 'tool_unknown', false],
  ])('%s: UNVERIFIABLE with its code', async (_, answer, changes, reason, hasAnswer) => {
    const deadline = changes.deadlineMonotonicMs === 0 ? { deadlineMonotonicMs: performance.now() - 1 } : {};
    expect(await observed(answer, expectAmount, { ...changes, ...deadline })).toMatchObject({
      verdict: 'UNVERIFIABLE',
      reasons: [reason],
      hasAnswer,
    });
  });

  it('judges what came, and keeps neither the credential nor sensitive arguments of the write', async () => {
    const args = { amount: 500, pin: 'secret-pin-1' };
    const body = { pin: 'secret-pin-1', echo: 'canary-token-0123456789' };
    const equal = await observed(
      () => jsonAnswer(200, body),
      { expect: { 'body.pin': '{{args.pin}}' } },
      { args, config: { auth: { kind: 'bearer' } } },
    );
    expect(equal).toMatchObject({ verdict: 'VERIFIED', evidence: { observed: { 'body.pin': '[redacted]' } } });
    expect(JSON.stringify(equal.evidence)).not.toMatch(/secret-pin|canary/);
    const swapped = { expect: { 'body.pin': '{{args.pin}}' }, args: { id: 're_1' } };
    const other = await observed(() => jsonAnswer(200, { pin: 'secret' }), swapped, { args });
    expect(other).toMatchObject({ verdict: 'MISMATCH', reasons: ['body.pin'] });
  });

  it('asks nothing by a part of the result that was redacted', async () => {
    const seen = await observed(() => jsonAnswer(200, { amount: 500 }), expectAmount, {
      result: { body: { id: '[redacted]' } },
    });
    expect(seen).toMatchObject({ verdict: 'UNVERIFIABLE', reasons: ['result_missing'], hasAnswer: false });
    expect(seen.server.requests).toHaveLength(0);
  });

  it('a call that left out what it is read by is not read, one that left out what is compared is not verified', async () => {
    const byId = { ...expectAmount, args: { id: '{{args.pin}}' } };
    const unread = await observed(() => jsonAnswer(200, {}), byId);
    expect(unread).toMatchObject({ verdict: 'UNVERIFIABLE', reasons: ['argument_left_out'], evidence: null });
    expect(unread.server.requests).toHaveLength(0);
    const found = await observed(() => jsonAnswer(200, { amount: 7 }), expectAmount, { args: {} });
    expect(found).toMatchObject({
      verdict: 'UNVERIFIABLE',
      reasons: ['nothing_compared'],
      hasAnswer: false,
      mayChange: false,
    });
  });

  it('a body that is kept by its digest is not compared', async () => {
    const png = () => httpAnswer(200, Buffer.alloc(10), { 'Content-Type': 'image/png', 'Content-Length': '10' });
    expect(await observed(png, expectAmount)).toMatchObject({
      verdict: 'UNVERIFIABLE',
      reasons: ['answer_not_kept'],
      hasAnswer: false,
    });
    expect(await observed(png, {})).toMatchObject({ verdict: 'VERIFIED' });
  });

  it.each<[string, string, string | null, string]>([
    ['an integer beyond 2^53-1', '{"amount":500,"id":9007199254740993}', 'application/json', 'answer_not_kept'],
    ['a member twice', '{"amount":500,"amount":500}', 'application/vnd.api+json', 'answer_not_kept'],
    ['no JSON, though it says so', 'amount=500', 'application/json', 'answer_not_kept'],
    ['such JSON without a type', '{"amount":500,"id":9007199254740993}', null, 'answer_not_kept'],
    ['a text without a type', 'amount=500', null, 'body.amount'],
    ['a text', '{"amount":500}', 'text/plain', 'body.amount'],
    ['JSON with a text in it', '{"text":"amount"}', 'application/json', 'body.amount'],
  ])('JSON that cannot be read exactly is not compared, a text is: %s', async (_, body, type, reason) => {
    const headers = { 'Content-Length': String(body.length), ...(type === null ? {} : { 'Content-Type': type }) };
    const seen = await observed(() => httpAnswer(200, body, headers), expectAmount);
    const verdict = reason === 'answer_not_kept' ? 'UNVERIFIABLE' : 'MISMATCH';
    expect(seen).toMatchObject({ verdict, reasons: [reason] });
  });

  it('shows a long value by its digest, once it is kept in the answer', async () => {
    const long = 'x'.repeat(5_000);
    const seen = await observed(() => jsonAnswer(200, { a: long }), { expect: { 'body.a': 'y', body: {} } });
    expect(seen.evidence).toMatchObject({
      observed: { 'body.a': { digest: digestOfJson(long), bytes: 5_002 } },
      expected: { 'body.a': 'y' },
    });
  });

  it('the read tool is part of what the write is: its digest changes with it', async () => {
    const { driver, connector } = await observed(() => jsonAnswer(200, {}), {});
    const { tools: own, ...rest } = connector.config as { tools: JsonObject[] } & JsonObject;
    const [reader, writer] = own as [JsonObject, JsonObject];
    const changed = { ...rest, tools: [{ ...reader, description: 'other' }, writer] } as JsonObject;
    const of = (config: JsonObject) => driver.toolOf({ ...connector, config }, 'refund')?.digest;
    const digests = [of(connector.config), of(changed)];
    expect(digests[0]).not.toBe(digests[1]);
    expect(driver.toolOf(connector, 'refund')).toMatchObject({
      readBack: { tool: 'get_refund', attempts: 1, intervalMs: 300, sentence: expect.stringContaining('get_refund') },
    });
    expect(driver.toolOf(connector, 'get_refund')).not.toHaveProperty('readBack');
  });
});
