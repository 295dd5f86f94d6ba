import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MAX_WAITING_REQUESTS } from '../../apps/api/src/http/pipeline.js';
import { residentBytes as residentBytesOf } from '../support/process-memory.js';
import { START_AT_FULL_SIZE } from '../support/service.js';
import { type DescribedOperation, OPERATIONS } from './described-answer.js';
import { configOf, POLICY } from './error-codes/lab.js';
import { callerOf, pathOf } from './error-codes/operations.js';
import { plainAnswer, Stage } from './error-codes/stage.js';
import { headersOf } from './error-codes/sent.js';
import { placesOf } from './malformed-requests/damages.js';
import { bytesOf, type Draft } from './malformed-requests/draft.js';
import { exchange } from './malformed-requests/exchange.js';
import { heldSockets } from './malformed-requests/held-sockets.js';
import { flood, streamBodies, type Trickle, trickle } from './malformed-requests/hostile-senders.js';
import { faultsOf } from './malformed-requests/judge.js';
import { RawConnection } from './raw-http.js';

/** AGS_MALFORMED=200000 with another AGS_SEED is a night's work. */
const COUNT = Number(process.env['AGS_MALFORMED'] ?? 1_600);
const SEED = Number(process.env['AGS_SEED'] ?? 1);
const CONCURRENCY = 8;
/** Requests after which everything has been loaded, compiled and pooled once. */
const WARM_UP = 1_000;
/** It was 19 and 24 MiB: the old generation between two collections. Over a night's requests anything kept would show. */
const MAX_GROWTH_BYTES = 64 * 1_048_576;
/** Beside what is held of bodies: V8 lets buffers of 64 MiB become garbage before it looks for any. */
const MAX_GARBAGE_BYTES = 96 * 1_048_576;

let stage: Stage;
/** A policy that decides nothing. */
let spare = '';
/** An admin key of an organization that decides nothing either: it may be stopped, and its members and keys come and go. */
let nextDoor = '';
let lastAddress = 0;
beforeAll(async () => {
  // Behind a proxy that is trusted, so that each request may come from an address of its own: signing in is limited by it.
  stage = await Stage.open({ program: START_AT_FULL_SIZE, env: { SERVICE_TRUSTED_PROXIES: '127.0.0.1' } });
  nextDoor = String((await stage.ags('org', 'create', 'Next door')).object['admin_key']);
  spare = String((await stage.change('POST', '/v1/policies', { name: 'Spare', source: POLICY }))['id']);
});
afterAll(() => stage?.close());

/** A request with nothing wrong, whose body names what there is. */
const soundDraft = (operation: DescribedOperation): Draft => {
  const example = operation.bodyExample as Readonly<Record<string, unknown>> | undefined;
  const json = BODIES[operation.name] ?? example ?? null;
  return {
    method: operation.method,
    target: targetOf(operation),
    headers: [
      ['Host', 'localhost'],
      ...credentialsOf(operation),
      ...(json === null ? [] : [['Content-Type', 'application/json'] as const]),
    ],
    json,
    bytes: null,
    rawLines: '',
    endsSending: false,
  };
};

const credentialsOf = (operation: DescribedOperation): Draft['headers'] => {
  if (operation.auth === 'public') {
    lastAddress += 1;
    return [['X-Forwarded-For', `10.0.${lastAddress >> 8}.${lastAddress & 255}`]];
  }
  const { key, as } = callerOf(operation, stage);
  if (as !== undefined) return Object.entries(headersOf(operation.method, as));
  return [['Authorization', `Bearer ${operation.template.startsWith('/v1/org') ? nextDoor : String(key)}`]];
};

const targetOf = (operation: DescribedOperation): string => {
  const path = pathOf(operation, stage);
  return operation.template.endsWith('/deactivate') ? path.replace(stage.policy, spare) : path;
};

/** Where the example of the description speaks of what is not there. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /v1/actions': { tool: 'lab.read', args: { id: '42' }, wait: 5 },
  // Of all organizations, an owner's own session must outlive these requests.
  'POST /v1/auth/logout': { everywhere: 'here' },
  'POST /v1/connectors': { type: 'rest', name: 'lab', config: configOf('http://127.0.0.1:9') },
};

/** Some requests are accepted, whatever is odd about them, their method too: they change what no other request needs. */
const harmless = (draft: Draft): Draft => {
  const instead: Readonly<Record<string, string>> = { DELETE: 'held', PATCH: 'bare', PUT: 'bare' };
  const connector = instead[draft.method];
  if (connector === undefined) return draft;
  return { ...draft, target: draft.target.replace('/connectors/lab', `/connectors/${connector}`) };
};

interface Case {
  /** `POST /v1/actions: body tool, header Service-Session` */
  readonly name: string;
  readonly draft: Draft;
}

/** Every place of every operation in turn, each time with another thing wrong there; every third with a second one. */
const casesOf = (count: number, seed: number): readonly Case[] => {
  const places = OPERATIONS.flatMap((operation) => {
    const others = placesOf(operation);
    return others.map((place) => ({ operation, place, others }));
  });
  const picks = fc.sample(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { seed, numRuns: count });
  return picks.map(([first, second, third], index) => {
    const { operation, place, others } = places[index % places.length] as (typeof places)[number];
    const other = index % 3 === 0 ? others[second % others.length] : undefined;
    const draft = [other?.damages[third % other.damages.length], place.damages[first % place.damages.length]].reduce(
      (sound, damage) => damage?.(sound) ?? sound,
      soundDraft(operation),
    );
    return {
      name: `${operation.name}: ${[place.name, ...(other ? [other.name] : [])].join(', ')}`,
      draft: harmless(draft),
    };
  });
};

interface Outcome {
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string;
  /** Whether the answer says that the refusal itself was recorded. */
  readonly isRecorded: boolean;
}

/** Sends them all, a few at a time. */
const sendAll = async (
  cases: readonly Case[],
): Promise<{ readonly outcomes: Outcome[]; readonly faults: string[] }> => {
  const outcomes: Outcome[] = [];
  const faults: string[] = [];
  const waiting = cases.values();
  const sendNext = async (): Promise<void> => {
    for (const { name, draft } of waiting) {
      const answer = await exchange(stage.port, draft);
      const sent = bytesOf(draft).toString('latin1', 0, 600);
      if (answer === null) {
        faults.push(`${name}: no answer\n${JSON.stringify(sent)}`);
        continue;
      }
      const { method, target } = draft;
      const found = faultsOf({ method, target, answer }, stage.service.baseUrl);
      faults.push(...found.map((fault) => `${name}: ${fault}\n${JSON.stringify(sent)}`));
      const code = answer.error['code'];
      outcomes.push({
        status: answer.status,
        code: typeof code === 'string' ? code : null,
        requestId: answer.headers.get('service-request-id') ?? '',
        isRecorded: answer.error['action'] !== undefined,
      });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sendNext));
  return { outcomes, faults };
};

const residentBytes = (): Promise<number> => residentBytesOf(stage.service.pid);

const seeded = (): string => `AGS_SEED=${SEED} AGS_MALFORMED=${COUNT} repeats this run`;

describe(`${COUNT} malformed requests over every route`, () => {
  const outcomes: Outcome[] = [];
  let warmBytes = 0;
  let loggedBefore = { stdout: 0, stderr: 0 };

  it(
    'are each answered below 500, in the envelope, with a request id and a version',
    async () => {
      loggedBefore = { stdout: stage.service.stdout.length, stderr: stage.service.stderr.length };
      const cases = casesOf(COUNT, SEED);
      const faults: string[] = [];
      for (const part of [cases.slice(0, WARM_UP), cases.slice(WARM_UP)]) {
        const sent = await sendAll(part);
        outcomes.push(...sent.outcomes);
        faults.push(...sent.faults);
        warmBytes ||= await residentBytes();
      }
      expect(faults.slice(0, 20), `${faults.length} faults; ${seeded()}`).toEqual([]);
      expect(outcomes).toHaveLength(COUNT);
    },
    60_000 + COUNT * 20,
  );

  it('are malformed: most are refused, for many reasons', () => {
    const refused = outcomes.filter(({ status }) => status >= 400);
    expect(refused.length / outcomes.length, seeded()).toBeGreaterThan(0.6);
    expect(new Set(refused.map(({ code }) => code)).size).toBeGreaterThan(12);
  });

  it('leave no event in the log when refused, but for refusals that are sealed', async () => {
    const traceless = outcomes.filter(({ status, isRecorded }) => status >= 400 && !isRecorded);
    const { rows } = await stage.database.query<{ type: string; request_id: string }>(
      `select type, metadata::jsonb ->> 'request_id' as request_id from event_store.events
        where metadata::jsonb ->> 'request_id' = any($1)`,
      [traceless.map(({ requestId }) => requestId)],
    );
    expect(rows, seeded()).toEqual([]);
    // The question finds what accepted requests have left.
    const accepted = outcomes.filter(({ status, isRecorded }) => status < 300 || isRecorded);
    const found = await stage.database.query(
      `select from event_store.events where metadata::jsonb ->> 'request_id' = any($1)`,
      [accepted.map(({ requestId }) => requestId)],
    );
    expect(found.rowCount).toBeGreaterThan(0);
  });

  it('link to a page for every code', async () => {
    const codes = new Set(outcomes.flatMap(({ code }) => code ?? []));
    for (const code of codes) {
      const page = await fetch(`${stage.service.baseUrl}/docs/errors/${code}`);
      expect([code, page.status]).toEqual([code, 200]);
    }
  });

  it('log no error, for callers’ mistakes are not the operator’s', () => {
    const printed = stage.service.stdout.slice(loggedBefore.stdout);
    // Invitations that were accepted, where there is no mail server.
    const withoutMails = printed.replaceAll(/^ {2}Mail to .*\n(?: {2}\|.*\n)*/gm, '').trim();
    expect(withoutMails + stage.service.stderr.slice(loggedBefore.stderr), seeded()).toBe('');
  });

  it('leave the process alive, whole and no larger', async () => {
    expect(await stage.send('GET', '/v1/health')).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await stage.act('lab.write', 'after')).toMatchObject({ status: 200 });
    expect((await residentBytes()) - warmBytes, seeded()).toBeLessThan(MAX_GROWTH_BYTES);
  });
});

/** docs/api-conventions.md: until headers and a body have come, and for whoever goes on after the answer. */
const LIMITS_MS = { headers: 10_000, body: 30_000, linger: 2_000 } as const;
/** Limits are looked at once a second; a machine at work on all of this is late by some more. */
const LATE_MS = 10_000;
const SLOW_SENDERS = 200;
const BIG_BODIES = 200;
const FLOODS = 10;

/** Where a sender ends its side, what it has sent by then, and the status it is told; null where it is taken for gone. */
interface Ending {
  readonly moment: string;
  readonly sent: (number: number) => string;
  readonly status: number | null;
}

const ENDINGS: readonly Ending[] = [
  { moment: 'before a byte', sent: () => '', status: null },
  { moment: 'within the head', sent: () => 'GET /v1/actions HTTP/1.1\r\nHost: x\r\nX-A: ', status: 400 },
  { moment: 'within the body', sent: () => `${headOf('unfinished')}Content-Length: 100\r\n\r\n{`, status: 400 },
  { moment: 'after the whole', sent: (number) => wholeRequest(`half-closed-${number}`), status: null },
];
const ENDING_EACH = 75;

const headOf = (idempotencyKey: string): string =>
  `POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stage.service.agentKey}\r\n` +
  `Content-Type: application/json\r\nIdempotency-Key: ${idempotencyKey}\r\n`;
/** Its upstream does not answer before it is told to. */
const HELD_CALL = { tool: 'held.write', args: { id: 'held' }, wait: 25 };
const wholeRequest = (idempotencyKey: string): string => {
  const body = JSON.stringify(HELD_CALL);
  return `${headOf(idempotencyKey)}Content-Length: ${body.length}\r\n\r\n${body}`;
};

describe('hostile clients, all at once', () => {
  let before = 0;
  let senders: Trickle;
  beforeAll(async () => {
    before = await residentBytes();
    senders = await trickle(stage.port, stage.service.agentKey, SLOW_SENDERS);
  });
  afterAll(() => senders?.stop());

  /** Acts until this is over. @returns how often, and the most memory that the service had meanwhile */
  const actBeside = async (hostile: Promise<unknown>): Promise<{ served: number; largest: number }> => {
    let isOver = false;
    hostile.finally(() => (isOver = true)).catch(() => undefined);
    let [served, largest] = [0, 0];
    while (!isOver) {
      expect(await stage.act('lab.write', `beside-${served}`)).toMatchObject({ status: 200 });
      served += 1;
      largest = Math.max(largest, await residentBytes());
    }
    return { served, largest };
  };

  it(`with ${BIG_BODIES} bodies of 100 MB and ${FLOODS} floods are refused, cost no memory, and every other caller is served`, async () => {
    const { agentKey } = stage.service;
    const hostile = Promise.all([streamBodies(stage.port, agentKey, BIG_BODIES), flood(stage.port, agentKey, FLOODS)]);
    const { served, largest } = await actBeside(hostile);
    const [statuses, answered] = await hostile;
    expect(statuses).toEqual(Array(BIG_BODIES).fill(413));
    expect(answered).toEqual(Array(FLOODS).fill(1 + MAX_WAITING_REQUESTS));
    expect(served).toBeGreaterThan(0);
    // Of each body in chunks 1 MiB is held; one that declares its 100 MB is refused before its first byte. It was 62 to 163 MiB in
    // all, and 390 with 4 MiB of each body (two cores, 2026-11-26).
    expect(largest - before).toBeLessThan((BIG_BODIES / 2) * 1_048_576 + MAX_GARBAGE_BYTES);
    expect(await stage.send('GET', '/v1/health')).toMatchObject({ status: 200, json: { status: 'ok' } });
  });

  it(`that end their side, ${ENDINGS.length * ENDING_EACH} at any moment, are told so or let go, and no socket of theirs is kept`, async () => {
    // The requests above may have removed it.
    const connector = {
      type: 'rest',
      name: 'held',
      config: configOf(stage.lab.upstream.baseUrl, { timeout_ms: 30_000 }),
    };
    expect([201, 409]).toContain((await stage.admin('POST', '/v1/connectors', { json: connector })).status);
    const endings = ENDINGS.flatMap((ending) => Array.from({ length: ENDING_EACH }, () => ending));
    const connections = await Promise.all(endings.map(() => RawConnection.open(stage.port)));
    const ports = new Set(connections.map(({ socket }) => socket.localPort as number));
    const held = (): Promise<number> => heldSockets(stage.service.pid, stage.port, ports);
    const settled = { timeout: 20_000, interval: 50 };
    await vi.waitFor(async () => expect(await held()).toBe(connections.length), settled);
    // Every other one together with what it sends, the rest when that was read.
    const later = connections.filter((connection, index) => {
      connection.send(endings[index]?.sent(index) ?? '');
      if (index % 2 === 0) connection.socket.end();
      return index % 2 === 1;
    });
    await actBeside(Promise.all(Array.from({ length: 5 }, (_, number) => stage.act('lab.write', `read-${number}`))));
    for (const { socket } of later) socket.end();
    const received = Promise.all(connections.map((connection) => connection.untilClosed()));
    expect((await actBeside(received)).served).toBeGreaterThan(0);
    const told = (await received).map((text, index) => {
      const status = text === '' ? null : Number(/^HTTP\/1\.1 (\d+) /.exec(text)?.[1]);
      return [endings[index]?.moment, status];
    });
    expect(told).toEqual(endings.map(({ moment, status }) => [moment, status]));
    await vi.waitFor(async () => expect(await held()).toBe(0), settled);
    stage.lab.release();
    const again = await stage.agent('POST', '/v1/actions', {
      json: HELD_CALL,
      headers: { 'Idempotency-Key': `half-closed-${connections.length - 1}` },
    });
    stage.lab.hold();
    expect(again).toMatchObject({ status: 200, json: { state: 'sealed', execution: { status: 'succeeded' } } });
    expect(again.headers.get('service-idempotent-replayed')).toBe('true');
  });

  it(`that send slowly, ${SLOW_SENDERS} of them, are each told 408 when their time is over, and cut off however they go on`, async () => {
    const { ofHeaders, ofBodies } = await senders.cutOff;
    for (const [cuts, limitMs, method, target] of [
      [ofHeaders, LIMITS_MS.headers, 'GET', '/v1/health'],
      [ofBodies, LIMITS_MS.body, 'POST', '/v1/actions'],
    ] as const) {
      expect(cuts).toHaveLength(SLOW_SENDERS / 2);
      for (const { answer: raw, answeredAtMs, cutAtMs } of cuts) {
        if (raw === null) throw new Error('a slow sender was cut off without an answer');
        const answer = plainAnswer(raw);
        expect([answer.status, answer.error['code'], answer.headers.get('connection')]).toEqual([
          408,
          'timeout',
          'close',
        ]);
        expect(faultsOf({ method, target, answer }, stage.service.baseUrl)).toEqual([]);
        expect(answeredAtMs - senders.begunAtMs).toBeGreaterThanOrEqual(limitMs);
        expect(answeredAtMs - senders.begunAtMs).toBeLessThan(limitMs + LATE_MS);
        expect(cutAtMs - answeredAtMs).toBeLessThan(LIMITS_MS.linger + LATE_MS);
      }
    }
  });
});
