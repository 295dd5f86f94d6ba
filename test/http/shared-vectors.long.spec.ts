import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bodyProfile,
  canonicalize,
  type DeedBody,
  commitmentOf,
  type JsonObject,
  type JsonValue,
  parseStrictJson,
  StrictJsonError,
  type StrictJsonReason,
  verifyBundle,
} from '#libs/crypto';
import { parseDeedLine } from '../../libs/crypto/src/bundle-format.js';
import { BundleReader, linesOf } from '../../libs/crypto/src/bundle-reader.js';
import { type Answer, type RunningService, startService } from '../support/service.js';
import type { Draft } from './malformed-requests/draft.js';
import { exchange } from './malformed-requests/exchange.js';
import { faultsOf } from './malformed-requests/judge.js';

const VECTORS = process.env['VECTORS_DIR'];
const CONCURRENCY = 24;

/** The body of an action: 32 levels of arguments (rule FORM-7), and the body itself. */
const BODY = bodyProfile({ maxBytes: 1_048_576, maxDepth: 33 });
const WIDE = bodyProfile({ maxBytes: 16 * 1_048_576, maxDepth: 100 });
const NOT_JSON: readonly StrictJsonReason[] = ['utf8', 'syntax', 'duplicate_key'];

/** [status, code, param] */
type Refusal = readonly [status: number, code: unknown, param: unknown];

const refusalIn = ({ status, error }: Answer): Refusal => [status, error['code'], error['param']];

/** What libs/crypto makes of a body: its value, or how the interface refuses it. */
const readingOf = (body: Uint8Array): { readonly value: JsonValue } | { readonly refusal: Refusal } => {
  try {
    return { value: parseStrictJson(body, BODY) };
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    if (NOT_JSON.includes(error.reason)) return { refusal: [400, 'invalid_json', null] };
    const [field] = error.path;
    return { refusal: [400, 'validation_failed', typeof field === 'string' ? field : null] };
  }
};

const eachOf = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
  const waiting = items.values();
  const next = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, next));
};

/** Bytes as a header or a body of a raw request takes them: one character each. */
const bytesAsText = (text: string): string => Buffer.from(text).toString('latin1');

describe.skipIf(VECTORS === undefined)('the shared vectors through the HTTP door (set VECTORS_DIR to run)', () => {
  let service: RunningService;
  /** Every action that was recorded, with what its deed must say. */
  const recorded = new Map<string, { readonly tool: string; readonly args: string }>();
  /** How answers break what is promised of every answer. */
  const faults: string[] = [];

  beforeAll(async () => {
    service = await startService({ env: { LOG_LEVEL: 'error' } });
  });
  afterAll(() => service?.stop());

  const judged = (name: string, method: string, target: string, answer: Answer | null): Answer => {
    if (answer === null) throw new Error(`${name}: no answer`);
    faults.push(...faultsOf({ method, target, answer }, service.baseUrl).map((fault) => `${name}: ${fault}`));
    return answer;
  };

  /** No connector provides a tool here: whatever is accepted is recorded, refused and sealed, arguments and all. */
  const submit = async (
    name: string,
    body: Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> => {
    const response = await fetch(`${service.baseUrl}/v1/actions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.agentKey}`, 'Content-Type': 'application/json', ...headers },
      body,
    });
    const text = await response.text();
    const json = JSON.parse(text) as Answer['json'];
    const error = (json['error'] ?? {}) as Answer['error'];
    return judged(name, 'POST', '/v1/actions', {
      status: response.status,
      headers: response.headers,
      text,
      json,
      error,
    });
  };

  /** Submits what must be accepted, and keeps what its deed must say. */
  const record = async (name: string, call: { tool: string; args: string }, body: Uint8Array<ArrayBuffer>) => {
    const answer = await submit(name, body);
    expect([name, ...refusalIn(answer)]).toEqual([name, 404, 'tool_unknown', null]);
    const { id } = answer.error['action'] as { id: string };
    recorded.set(id, call);
    return id;
  };

  /** Of the evidence of a deed, by the member. */
  const saltsOf = async (deed: string): Promise<Readonly<Record<string, string>>> => {
    const { json } = await service.call('GET', `/v1/deeds/${deed}/evidence`, { key: service.adminKey });
    const data = json['data'] as readonly { member: string; salt: string }[];
    return Object.fromEntries(data.map(({ member, salt }) => [member, salt]));
  };

  const argumentsShownOf = async (id: string): Promise<string> => {
    const { text } = await service.call('GET', `/v1/actions/${id}`, { key: service.agentKey });
    const { request } = parseStrictJson(Buffer.from(text), WIDE) as { request: { args: JsonObject } };
    return canonicalize(request.args);
  };

  describe('the JSON test suite', () => {
    const folder = join(VECTORS ?? '', 'json-testsuite', 'test_parsing');
    const names = VECTORS === undefined ? [] : readdirSync(folder).sort();
    // Our profile is an I-JSON one: of what every parser must accept, it refuses members that repeat.
    const repeated = ['y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json'];
    const callOf = (name: string, value: Uint8Array) =>
      Buffer.concat([Buffer.from(`{"tool":"suite.${name}","args":{"value":`), value, Buffer.from('}}')]);

    it('as an argument: accepted or refused as its name and libs/crypto say, and shown byte for byte', async () => {
      let accepted = 0;
      await eachOf(names, async (name) => {
        const body = callOf(name, readFileSync(join(folder, name)));
        const reading = readingOf(body);
        if (name.startsWith('y_')) expect([name, 'value' in reading]).toEqual([name, !repeated.includes(name)]);
        if (name.startsWith('n_')) expect([name, 'value' in reading]).toEqual([name, false]);
        if ('refusal' in reading) {
          expect([name, ...refusalIn(await submit(name, body))]).toEqual([name, ...reading.refusal]);
          return;
        }
        const { tool, args } = reading.value as { tool: string; args: JsonObject };
        const id = await record(name, { tool, args: canonicalize(args) }, body);
        expect([name, await argumentsShownOf(id)]).toEqual([name, canonicalize(args)]);
        accepted += 1;
      });
      expect(names.length).toBeGreaterThan(250);
      expect(accepted).toBeGreaterThan(90);
    });

    it('as the body: refused as no JSON, or for what it is', async () => {
      await eachOf(names, async (name) => {
        const body = readFileSync(join(folder, name));
        const reading = readingOf(body);
        const [status, code] = refusalIn(await submit(name, body));
        const expected = 'refusal' in reading ? reading.refusal[1] : 'validation_failed';
        expect([name, status, code]).toEqual([name, 400, expected]);
      });
    });
  });

  it('the JCS files as arguments become the bytes that the authors of RFC 8785 wrote', async () => {
    const folder = join(VECTORS ?? '', 'jcs');
    const names = readdirSync(join(folder, 'input'));
    expect(names.length).toBeGreaterThan(5);
    await eachOf(names, async (name) => {
      const value = readFileSync(join(folder, 'input', name));
      const args = `{"value":${readFileSync(join(folder, 'output', name), 'utf8').trimEnd()}}`;
      const body = Buffer.concat([Buffer.from(`{"args":{"value":`), value, Buffer.from(`},"tool":"jcs.${name}"}`)]);
      const id = await record(name, { tool: `jcs.${name}`, args }, body);
      expect([name, await argumentsShownOf(id)]).toEqual([name, args]);
    });
  });

  describe('naughty strings', () => {
    const all =
      VECTORS === undefined ? [] : (JSON.parse(readFileSync(join(VECTORS, 'blns', 'blns.json'), 'utf8')) as string[]);
    const texts = [...new Set(all)];
    /** Keys that a client of ours can send: fetch takes spaces off both ends. */
    const IDEMPOTENCY_KEY = /^[!-~](?:[ -~]{0,253}[!-~])?$/;
    const REFERENCE = /^[A-Za-z0-9._~:@/+=-]{1,256}$/;
    const UNREADABLE = /[\0-\x08\n-\x1f\x7f]/;

    it('as arguments, values and names alike, come back byte for byte', async () => {
      expect(texts.length).toBeGreaterThan(500);
      const args = canonicalize({ values: all, names: Object.fromEntries(texts.map((text, index) => [text, index])) });
      const body = Buffer.from(`{"tool":"naughty.all","args":${args}}`);
      const id = await record('all', { tool: 'naughty.all', args }, body);
      expect(await argumentsShownOf(id)).toBe(args);
    });

    it('as the name of a tool, and as an Idempotency-Key beside it, are kept as they are', async () => {
      await eachOf(texts, async (text) => {
        const body = Buffer.from(JSON.stringify({ tool: text }));
        const headers: Record<string, string> = IDEMPOTENCY_KEY.test(text) ? { 'Idempotency-Key': text } : {};
        const first = await submit(text, body, headers);
        expect([text, ...refusalIn(first)]).toEqual([text, 404, 'tool_unknown', null]);
        const action = first.error['action'] as { id: string };
        recorded.set(action.id, { tool: text, args: '{}' });
        // Every eighth is sent again: a replay costs what a call costs.
        if (Object.keys(headers).length === 0 || texts.indexOf(text) % 8 !== 0) return;
        const again = await submit(text, body, headers);
        expect([text, again.error['action']]).toEqual([text, action]);
        expect(again.headers.get('service-idempotent-replayed')).toBe('true');
      });
    });

    it('as the filter q find the actions whose tool they name, or are refused for their length', async () => {
      await eachOf(texts, async (text) => {
        const target = `/v1/actions?limit=10&q=${encodeURIComponent(text)}`;
        const answer = judged(text, 'GET', target, await service.call('GET', target, { key: service.agentKey }));
        const { length } = [...text];
        if (length < 2 || length > 64) {
          expect([text, ...refusalIn(answer)]).toEqual([text, 400, 'validation_failed', 'q']);
          return;
        }
        const { data, has_more: hasMore } = answer.json as { data: { tool: string }[]; has_more: boolean };
        expect([text, hasMore || data.some(({ tool }) => tool === text)]).toEqual([text, true]);
      });
    });

    /** What is read of a header: no space at its ends. Null where such a line is no HTTP. */
    const readAs = (text: string): string | null =>
      UNREADABLE.test(text) ? null : text.replace(/^[ \t]+|[ \t]+$/g, '');

    const refusedFor = async (headers: readonly string[], text: string, refusal: Refusal): Promise<void> => {
      const answer = judged(text, 'POST', '/v1/actions', await exchange(portOf(service), draftWith(headers, text)));
      const expected = readAs(text) === null ? [400, 'validation_failed', null] : refusal;
      expect([text, ...refusalIn(answer)]).toEqual([text, ...expected]);
    };

    it('as a header are refused where it has a form of its own, and mean nothing where it has none', async () => {
      const keyRefused: Refusal = [400, 'idempotency_key_invalid', 'Idempotency-Key'];
      const referenceRefused: Refusal = [422, 'validation_failed', 'Service-On-Behalf-Of'];
      const toolRefused: Refusal = [400, 'validation_failed', 'tool'];
      await eachOf(texts, async (text) => {
        const value = bytesAsText(readAs(text) ?? '');
        const isReference = REFERENCE.test(value);
        await refusedFor(['Service-On-Behalf-Of', 'User-Agent'], text, isReference ? toolRefused : referenceRefused);
        // What is a key was one above.
        if (!/^[ -~]{1,255}$/.test(value)) await refusedFor(['Idempotency-Key', 'Accept'], text, keyRefused);
      });
    });

    /** Its body is refused last of all, so that every header is judged and nothing is recorded. */
    const draftWith = (headers: readonly string[], text: string): Draft => ({
      method: 'POST',
      target: '/v1/actions',
      headers: [
        ['Host', 'localhost'],
        ['Authorization', `Bearer ${service.agentKey}`],
        ['Content-Type', 'application/json'],
        ...headers.map((header) => [header, bytesAsText(text)] as const),
      ],
      json: { tool: 5 },
      bytes: null,
      rawLines: '',
      endsSending: false,
    });
  });

  it('each answer keeps the promises made of all answers', () => expect(faults.slice(0, 20)).toEqual([]));

  it('the exported bundle verifies, and its deeds say of each call what was sent', async () => {
    const response = await fetch(`${service.baseUrl}/v1/deeds/export`, {
      headers: { Authorization: `Bearer ${service.adminKey}` },
    });
    const bundle = Buffer.from(await response.arrayBuffer());
    const options = { org: service.org, pins: [service.pin] };
    expect(await verifyBundle(Readable.from([bundle]), options)).toMatchObject({ result: 'intact', first_seq: 1 });
    const bodies = await deedsIn(bundle);
    const deeds = new Map(bodies.map(({ action }) => [action?.id, action]));
    const ids = new Map(bodies.map(({ id, action }) => [action?.id, id]));
    expect(recorded.size).toBeGreaterThan(600);
    for (const [id, { tool, args }] of recorded) {
      const { tool: kept = '', ...action } = deeds.get(id) ?? {};
      const isCut = Buffer.byteLength(tool) > 200;
      expect([id, tool.startsWith(kept), kept === tool]).toEqual([id, true, !isCut]);
      const request = { args: parseStrictJson(Buffer.from(args), WIDE), mode: 'gateway', tool, tool_digest: null };
      const salts = await saltsOf(String(ids.get(id)));
      expect([id, action]).toMatchObject([
        id,
        {
          tool_truncated: isCut,
          args_digest: commitmentOf(salts['action.args_digest'] ?? '', args),
          request_digest: commitmentOf(salts['action.request_digest'] ?? '', canonicalize(request)),
        },
      ]);
    }
  });
});

const portOf = (service: RunningService): number => Number(new URL(service.baseUrl).port);

const deedsIn = async (bundle: Buffer): Promise<readonly DeedBody[]> => {
  const reader = new BundleReader(Readable.from([bundle]));
  const manifest = await reader.manifest();
  await reader.keys(manifest);
  const deeds: DeedBody[] = [];
  for await (const { bytes } of reader.deeds()) {
    for (const line of linesOf(bytes)) {
      deeds.push(JSON.parse(Buffer.from(parseDeedLine(line)?.body ?? []).toString()) as DeedBody);
    }
  }
  return deeds;
};
