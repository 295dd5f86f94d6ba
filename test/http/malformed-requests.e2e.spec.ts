import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_WAITING_REQUESTS } from '../../apps/api/src/http/pipeline.js';
import { type DescribedOperation, OPERATIONS } from './described-answer.js';
import { configOf, POLICY } from './error-codes/lab.js';
import { pathOf } from './error-codes/operations.js';
import { Stage } from './error-codes/stage.js';
import { placesOf } from './malformed-requests/damages.js';
import { bytesOf, type Draft } from './malformed-requests/draft.js';
import { exchange } from './malformed-requests/exchange.js';
import { flood, streamBodies, trickle } from './malformed-requests/hostile-senders.js';
import { faultsOf } from './malformed-requests/judge.js';

/** AGS_MALFORMED=200000 with another AGS_SEED is a night's work. */
const COUNT = Number(process.env['AGS_MALFORMED'] ?? 5_000);
const SEED = Number(process.env['AGS_SEED'] ?? 1);
const CONCURRENCY = 8;
/** Requests after which everything has been loaded, compiled and pooled once. */
const WARM_UP = 2_000;
/** The heap swings by half of this between two collections; over a night's requests anything kept would show. */
const MAX_GROWTH_BYTES = 128 * 1_048_576;

let stage: Stage;
/** A policy that decides nothing. */
let spare = '';
beforeAll(async () => {
  stage = await Stage.open();
  spare = String((await stage.change('POST', '/v1/policies', { name: 'Spare', source: POLICY }))['id']);
});
afterAll(() => stage?.close());

/** A request with nothing wrong, whose body names what there is. */
const soundDraft = (operation: DescribedOperation): Draft => {
  const key = operation.auth === 'agent_key' ? stage.service.agentKey : stage.service.adminKey;
  const example = operation.bodyExample as Readonly<Record<string, unknown>> | undefined;
  const json = BODIES[operation.name] ?? example ?? null;
  return {
    method: operation.method,
    target: targetOf(operation),
    headers: [
      ['Host', 'localhost'],
      ...(operation.auth === 'public' ? [] : [['Authorization', `Bearer ${key}`] as const]),
      ...(json === null ? [] : [['Content-Type', 'application/json'] as const]),
    ],
    json,
    bytes: null,
    rawLines: '',
    endsSending: false,
  };
};

/** Some requests are accepted, whatever is odd about them: they change what no other request needs. */
const targetOf = (operation: DescribedOperation): string => {
  const path = pathOf(operation, stage);
  if (operation.method === 'DELETE') return path.replace('/connectors/lab', '/connectors/held');
  if (['PATCH', 'PUT'].includes(operation.method)) return path.replace('/connectors/lab', '/connectors/bare');
  return operation.template.endsWith('/deactivate') ? path.replace(stage.policy, spare) : path;
};

/** Where the example of the description speaks of what is not there. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /v1/actions': { tool: 'lab.read', args: { id: '42' }, wait: 5 },
  'POST /v1/connectors': { type: 'rest', name: 'lab', config: configOf('http://127.0.0.1:9') },
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
    return { name: `${operation.name}: ${[place.name, ...(other ? [other.name] : [])].join(', ')}`, draft };
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

const residentBytes = async (): Promise<number> => {
  const status = await readFile(`/proc/${stage.service.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
};

const seeded = (): string => `AGS_SEED=${SEED} AGS_MALFORMED=${COUNT} repeats this run`;

describe(`${COUNT} malformed requests over every route`, () => {
  const outcomes: Outcome[] = [];
  let warmBytes = 0;
  let loggedBefore = '';

  it(
    'are each answered below 500, in the envelope, with a request id and a version',
    async () => {
      loggedBefore = stage.service.stdout + stage.service.stderr;
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
    expect((stage.service.stdout + stage.service.stderr).slice(loggedBefore.length), seeded()).toBe('');
  });

  it('leave the process alive, whole and no larger', async () => {
    expect(await stage.send('GET', '/v1/health')).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await stage.act('lab.write', 'after')).toMatchObject({ status: 200 });
    expect((await residentBytes()) - warmBytes, seeded()).toBeLessThan(MAX_GROWTH_BYTES);
  });
});

describe('200 slow senders, 20 bodies of 100 MB and 10 floods of requests at once', () => {
  it('are refused, cost no memory, and every other caller is served', async () => {
    const { port, service } = stage;
    const key = service.agentKey;
    const before = await residentBytes();
    const stopTrickling = await trickle(port, key, 200);
    let isOver = false;
    const hostile = Promise.all([streamBodies(port, key, 20), flood(port, key, 10)]).finally(() => (isOver = true));
    let [served, largest] = [0, 0];
    while (!isOver) {
      expect(await stage.act('lab.write', `beside-${served}`)).toMatchObject({ status: 200 });
      served += 1;
      largest = Math.max(largest, await residentBytes());
    }
    stopTrickling();
    const [statuses, answered] = await hostile;
    expect(statuses).toEqual(Array(20).fill(413));
    expect(answered).toEqual(Array(10).fill(1 + MAX_WAITING_REQUESTS));
    expect(served).toBeGreaterThan(0);
    // The bodies are 2,000 MB together; the floods cost 3,000 where each of their requests begins.
    expect(largest - before).toBeLessThan(256 * 1_048_576);
    expect(await stage.send('GET', '/v1/health')).toMatchObject({ status: 200, json: { status: 'ok' } });
  });
});
