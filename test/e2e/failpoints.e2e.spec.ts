import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifyBundle } from '#libs/crypto';
import type { Failpoint } from '#libs/domain/kernel';
import { connectCrm } from '../support/crm.js';
import { runAgs } from '../support/run-ags.js';
import { startService, type Answer, type RunningService } from '../support/service.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const LOGGED_DEADLINE_MS = 10_000;

let service: RunningService;
let upstream: Upstream;
/** Reads that the upstream refuses once, by the key in their path. */
const busyFor = new Set<string>();
/** Every call of this file, by its idempotency key: the action that a client was told of, if it was. */
const told = new Map<string, string | null>();

beforeAll(async () => {
  upstream = await startUpstream((seen, response) => {
    const busy = [...busyFor].find((key) => seen.path.includes(key));
    if (busy !== undefined) busyFor.delete(busy);
    response.writeHead(busy === undefined ? 200 : 503, { 'content-type': 'application/json' }).end('{}');
  });
  service = await startService({
    env: {
      SERVICE_FAILPOINTS: 'none',
      SERVICE_SWEEP_INTERVAL_MS: '200',
      SERVICE_EXECUTOR_SILENCE_MS: '400',
      LOG_LEVEL: 'warn',
    },
  });
  await connectCrm(service, upstream.baseUrl);
});

afterAll(async () => {
  await service?.stop();
  await upstream?.close();
});

/** In the running process, in the place of what was armed before. */
const arm = async (orders: string): Promise<void> => {
  const seenBefore = service.stdout.length;
  await writeFile(join(service.stateDir, 'failpoints'), orders);
  process.kill(service.pid, 'SIGUSR2');
  await logged('failpoints are armed', seenBefore);
};

/** Waits until the service says it, after so many characters of its log. */
const logged = async (text: string, after = 0): Promise<void> => {
  await vi.waitFor(() => expect(service.stdout.slice(after), service.stderr).toContain(text), {
    timeout: LOGGED_DEADLINE_MS,
    interval: 5,
  });
};

/** The task, under which the point acts for certain. */
const acting = async <Result>(point: Failpoint, action: string, task: () => Promise<Result>): Promise<Result> => {
  const seenBefore = service.stdout.length;
  await arm(`${point}=${action}`);
  const result = await task();
  await logged(`failpoint=${point} `, seenBefore);
  return result;
};

const send = async (key: string, tool = 'add_note'): Promise<Answer> => {
  const text = tool === 'add_note' ? { text: key } : {};
  const answer = await service.call('POST', '/v1/actions', {
    key: service.agentKey,
    body: { tool: `crm.${tool}`, args: { id: key, ...text }, wait: 25 },
    headers: { 'Idempotency-Key': key },
  });
  if (typeof answer.json['id'] === 'string') told.set(key, answer.json['id']);
  return answer;
};

const newKey = (): string => {
  const key = randomUUID();
  told.set(key, null);
  return key;
};

const effectsOf = (key: string): number => upstream.seen.filter(({ path }) => path.includes(key)).length;
const statusOf = ({ json }: Answer): unknown => (json['execution'] as { status?: unknown } | null)?.status;

/** The service meets the point under a call, ends by its own hand, and is started again. */
const killAt = async (point: Failpoint, key: string, tool?: string): Promise<void> => {
  const exited = service.exited();
  await arm(`${point}=kill`);
  const answered = send(key, tool).catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error;
  });
  expect(await exited).toEqual({ code: null, signal: 'SIGKILL' });
  await answered;
  await service.start();
};

describe('kill -9 of a process at a failpoint', () => {
  it.each([
    ['before anything is stored (CP-01): the same key runs as the first', 'gate.received', 'succeeded', 1],
    ['when the acceptance is stored and unanswered (CP-03): unknown, nothing sent', 'gate.t1.ack', 'unknown', 0],
    ['when it is accepted and nobody was told (CP-05): unknown, nothing sent', 'gate.enqueue', 'unknown', 0],
    ['when it may send and has not (CP-11): unknown, nothing sent', 'exec.before_send', 'unknown', 0],
    ['when half is sent (CP-12): unknown, and never sent again', 'exec.mid_send', 'unknown', 0],
    ['when all is sent (CP-13): unknown, and never sent again', 'exec.sent', 'unknown', 1],
    ['when the answer is not recorded (CP-14): unknown, and never sent again', 'exec.answered', 'unknown', 1],
    ['when the outcome is recorded and unanswered (CP-15): the outcome stands', 'exec.t4.ack', 'succeeded', 1],
    ['when deeds are signed and not stored (CP-22): sealed later', 'seal.signed', 'succeeded', 1],
    ['when deeds are stored and unanswered (CP-23): not sealed again', 'seal.ack', 'succeeded', 1],
  ] as const)('%s', async (_title, point, status, effects) => {
    const key = newKey();
    await killAt(point, key);
    const again = await send(key);
    expect([again.json['state'], statusOf(again)]).toEqual(['sealed', status]);
    expect(effectsOf(key)).toBe(effects);
  });

  it('when rows are half written (CP-25), wherever the call then is: it ends honestly', async () => {
    const key = newKey();
    await killAt('proj.mid', key);
    const again = await send(key);
    expect(again.json['state']).toBe('sealed');
    expect(['succeeded', 'unknown']).toContain(statusOf(again));
    expect(effectsOf(key)).toBeLessThanOrEqual(1);
    if (statusOf(again) === 'succeeded') expect(effectsOf(key)).toBe(1);
  });

  it('between two attempts of a read (CP-17): the second follows, and is counted as such', async () => {
    const key = newKey();
    busyFor.add(key);
    await killAt('exec.retry', key, 'get_customer');
    const again = await send(key, 'get_customer');
    expect(again.json).toMatchObject({ state: 'sealed', execution: { status: 'succeeded' } });
    expect(effectsOf(key)).toBe(2);
  });
});

describe('an error of the call at a failpoint', () => {
  it.each([
    ['the acceptance is not stored', 'gate.t1'],
    ['the acceptance is stored and unanswered', 'gate.t1.ack'],
    ['the client is not answered', 'gate.reply'],
  ] as const)('%s: 503, and the same key leads to one honest end', async (_title, point) => {
    const key = newKey();
    const answer = await acting(point, 'error@1', () => send(key));
    expect(answer).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
    const again = await send(key);
    expect(again.json['state']).toBe('sealed');
    expect(effectsOf(key)).toBe(statusOf(again) === 'succeeded' ? 1 : 0);
  });

  it('cuts an export short, which is then no bundle at all (CP-42)', async () => {
    await acting('export.mid', 'error@3', () => expect(exported()).rejects.toThrow());
  });
});

describe('a call that meets an error or a delay ends by itself', () => {
  it.each([
    ['the credential cannot be opened (CP-08): failed, nothing sent', 'exec.claimed', 'error@1', 'failed', 0],
    ['the call may not be sent after all: failed, nothing sent', 'exec.before_send', 'error@1', 'failed', 0],
    ['the connection breaks when all is sent: unknown', 'exec.sent', 'error@1', 'unknown', 1],
    ['the outcome cannot be recorded at once: recorded a little later', 'exec.t4', 'error@1', 'succeeded', 1],
    ['the outcome is recorded and unanswered (CP-15): recorded once', 'exec.t4.ack', 'error@1', 'succeeded', 1],
    ['nothing can be sealed at once: sealed a little later', 'seal.before', 'error@1', 'succeeded', 1],
    ['deeds are stored and unanswered (CP-23): sealed once', 'seal.ack', 'error@1', 'succeeded', 1],
    ['rows cannot be written at once (CP-25): written a little later', 'proj.mid', 'error@1', 'succeeded', 1],
    ['the outcome is recorded late', 'exec.t4', 'delay:1000@1', 'succeeded', 1],
    ['deeds are stored late', 'seal.signed', 'delay:1000@1', 'succeeded', 1],
    ['rows are written late', 'proj.mid', 'delay:1000@1', 'succeeded', 1],
  ] as const)('%s (%s=%s)', async (_title, point, action, status, effects) => {
    const key = newKey();
    const answer = await acting(point, action, () => send(key));
    expect([answer.json['state'], statusOf(answer)]).toEqual(['sealed', status]);
    expect(effectsOf(key)).toBe(effects);
  });
});

describe('an order that cannot be read', () => {
  it('leaves what is armed as it is, and says so', async () => {
    await arm('gate.received=error');
    await writeFile(join(service.stateDir, 'failpoints'), 'gate.recieved=kill');
    process.kill(service.pid, 'SIGUSR2');
    await logged('failpoints stay as they were');
    expect(await send(randomUUID())).toMatchObject({ status: 503 });
    await arm('none');
  });
});

describe('after all of them', () => {
  it('every action that was told of is there, sealed once, and listed', async () => {
    const deeds = await listed('/v1/deeds?kind=action');
    const actions = await listed('/v1/actions?');
    for (const [key, id] of told) {
      expect(id, key).not.toBeNull();
      expect(deeds.filter(({ action }) => action === id)).toHaveLength(1);
      expect(actions.filter((row) => row['id'] === id)).toMatchObject([{ state: 'sealed' }]);
    }
    expect(new Set(deeds.map(({ action }) => action)).size).toBe(deeds.length);
  });

  it('the log gives every deed, and the export verifies', async () => {
    const audit = await runAgs(['audit', '--json'], { env: service.environment });
    expect(audit).toMatchObject({ code: 0, object: { result: 'intact', unsealed: 0, faults: [] } });
    const verdict = await verifyBundle(await exported(), { org: service.org, pins: [service.pin] });
    expect(verdict).toMatchObject({ result: 'intact' });
  });
});

/** @throws {TypeError} it was cut */
const exported = async (): Promise<AsyncIterable<Uint8Array>> => {
  const headers = { Authorization: `Bearer ${service.adminKey}` };
  const response = await fetch(`${service.baseUrl}/v1/deeds/export`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return (async function* () {
    yield bytes;
  })();
};

const listed = async (path: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const rows: Readonly<Record<string, unknown>>[] = [];
  let cursor: string | null = null;
  do {
    const next = cursor === null ? '' : `&cursor=${cursor}`;
    const page = await service.call('GET', `${path}&limit=100${next}`, { key: service.adminKey });
    rows.push(...(page.json['data'] as Readonly<Record<string, unknown>>[]));
    cursor = page.json['next_cursor'] as string | null;
  } while (cursor !== null);
  return rows;
};
