import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifyBundle } from '#libs/crypto';
import { KURRENT_UNDER_TEST, type KurrentUnderTest, startKurrent } from '../support/kurrent-under-test.js';
import { KurrentEventStore } from '#libs/infra/event-store';
import { PROJECTION_NAMES } from '#libs/infra/read-models';
import { connectCrm } from '../support/crm.js';
import { FleetProcess } from '../support/fleet-process.js';
import { KurrentServerProcess } from '../support/kurrent/kurrent-server-process.js';
import { newEvent } from '../support/new-event.js';
import { runAgs } from '../support/run-ags.js';
import { runDoctor } from '../support/run-doctor.js';
import { removeStateDir, ROOT, startService, temporaryStateDir, type RunningService } from '../support/service.js';
import { upToDate } from '../support/up-to-date.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const PATIENCE = { timeout: 30_000, interval: 50 };

const refusedCall = { tool: 'crm.nothing', args: {} };
const submit = (service: RunningService, body: object = refusedCall) =>
  service.call('POST', '/v1/actions', { key: service.agentKey, body });
const audited = async (env: NodeJS.ProcessEnv) => (await runAgs(['audit', '--json'], { env })).object;
const isWell = (service: RunningService) =>
  vi.waitFor(
    async () => expect((await service.call('GET', '/v1/health')).json).toMatchObject({ status: 'ok' }),
    PATIENCE,
  );
const bundleOf = async (service: RunningService): Promise<Uint8Array> => {
  const response = await fetch(`${service.baseUrl}/v1/deeds/export`, {
    headers: { Authorization: `Bearer ${service.adminKey}` },
  });
  return new Uint8Array(await response.arrayBuffer());
};
async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

describe(`a service whose log is in an event store of its own: ${KURRENT_UNDER_TEST}`, () => {
  let server: KurrentUnderTest;
  let upstream: Upstream;
  let service: RunningService;

  beforeAll(async () => {
    server = await startKurrent();
    upstream = await startUpstream((_, response) => void response.writeHead(200).end('{"ok":true}'));
    service = await startService({ env: { EVENT_STORE_URL: server.url } });
    await connectCrm(service, upstream.baseUrl);
  });
  afterAll(async () => {
    server.resume();
    await service?.stop();
    await upstream?.close();
    await server?.close();
  });

  it('executes, refuses, seals, lists and exports as any other', async () => {
    const body = { tool: 'crm.add_note', args: { id: '42', text: 'a note' } };
    const done = await submit(service, body);
    expect(done).toMatchObject({ status: 200, json: { state: 'sealed', status: 'executed' } });
    expect(await submit(service)).toMatchObject({ status: 404, error: { action: { state: 'sealed' } } });
    const list = await upToDate(() => service.call('GET', '/v1/actions', { key: service.adminKey }));
    expect((list.json['data'] as { id: string }[]).map(({ id }) => id)).toContain(done.json['id']);
    const verdict = await verifyBundle(inOnePiece(await bundleOf(service)), { org: service.org, pins: [service.pin] });
    expect(verdict.result).toBe('intact');
    const verified = await runAgs(['projections', 'verify', '--json'], { env: service.environment });
    expect(verified.objects.map(({ result }) => result)).toEqual(PROJECTION_NAMES.map(() => 'intact'));
    // Arguments of both, and the answer.
    expect(await audited(service.environment)).toMatchObject({ result: 'intact', unsealed: 0, payloads: 3 });
  });

  it('does nothing that it cannot record while the store is killed, and goes on by itself', async () => {
    const before = upstream.seen.length;
    await server.kill();
    const body = { tool: 'crm.add_note', args: { id: '42', text: 'a note' } };
    expect(await submit(service, body)).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
    expect(await service.call('GET', '/v1/health')).toMatchObject({ status: 503 });
    const told = await runAgs(['agents', 'list', '--json'], { env: service.environment });
    expect(told).toMatchObject({ code: 2, error: { code: 'event_store_unusable' } });
    expect(upstream.seen).toHaveLength(before);
    await server.start();
    await isWell(service);
    expect(await submit(service, body)).toMatchObject({ status: 200, json: { state: 'sealed' } });
    expect(service.stdout).toContain('the event store is away');
    expect(service.stdout).toContain('the event store is back');
  });

  it('does nothing that it cannot record while the store hangs, and goes on by itself', async () => {
    server.hang();
    expect(await submit(service)).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
    const doctor = await runAgs(['doctor', '--json'], { env: service.environment });
    const finding = doctor.objects.find(({ check }) => check === 'event_store');
    expect(finding).toMatchObject({ status: 'problem' });
    server.resume();
    await isWell(service);
    expect(await submit(service)).toMatchObject({ status: 404, error: { action: { state: 'sealed' } } });
    expect(await audited(service.environment)).toMatchObject({ result: 'intact', unsealed: 0 });
  });

  it('is no destination of a connector (rule EGRESS-6)', async () => {
    const base_url = `http://127.0.0.1:${/:(\d+)\?/.exec(server.url)?.[1] ?? ''}`;
    const tools = [{ name: 'read', method: 'GET', path: '/', args: {} }];
    const config = { base_url, auth: { kind: 'none' }, allowed_methods: ['GET'], allowed_path_prefixes: ['/'], tools };
    const body = { name: 'own', type: 'rest', config };
    const refused = await service.call('POST', '/v1/connectors', { key: service.adminKey, body });
    expect(refused).toMatchObject({ status: 400, error: { code: 'destination_blocked' } });
  });

  it('does not begin a second history where the setting is forgotten', async () => {
    const forgotten = { ...service.environment, EVENT_STORE_URL: '' };
    const run = await runAgs(['agents', 'list', '--json'], { env: forgotten });
    expect(run).toMatchObject({ code: 2, error: { code: 'event_store_unusable' } });
    expect(run.error['message']).toContain('Going on would begin a second history');
  });

  it('is not joined by a process on another database, which has none of its keys and arguments', async () => {
    const stateDir = await temporaryStateDir();
    const env = { ...service.environment, SERVICE_STATE_DIR: stateDir };
    const run = await runAgs(['init', '--json'], { env });
    expect(run).toMatchObject({ code: 1, error: { code: 'event_store_unusable' } });
    expect(run.error['message']).toContain('Set DATABASE_URL to that one');
    await removeStateDir(stateDir);
  });

  it('ends where the log goes back in time under it', async () => {
    const log = new KurrentEventStore({ url: server.url });
    const putBack = await server.backUp(await log.head());
    await log.close();
    await isWell(service);
    await submit(service);
    const ended = service.exited();
    await putBack();
    expect(await ended).toEqual({ code: 1, signal: null });
    expect(service.stderr).toContain('The event store went back in time');
  });
});

describe('a service whose user loses the right to append', () => {
  it('is not well until it has it again, says once which one it is, and is started by nobody', async () => {
    const server = await KurrentServerProcess.start();
    const service = await startService({ env: { EVENT_STORE_URL: server.url } });
    try {
      await server.deny('append');
      const [refused] = await Promise.all([
        submit(service),
        vi.waitFor(async () => {
          const health = await service.call('GET', '/v1/health');
          expect(health).toMatchObject({ status: 503, json: { checks: { event_store: 'down' } } });
        }, PATIENCE),
      ]);
      expect(refused).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
      const doctor = await runDoctor([], { env: service.environment });
      expect(doctor.objects.find(({ check }) => check === 'event_store')).toMatchObject({
        status: 'problem',
        message: expect.stringContaining('its user may not append to') as string,
      });
      const starting = FleetProcess.start('projector', service.environment);
      await expect(starting).rejects.toThrow(
        /The event store cannot be used: its user may not append to .*Let the user/,
      );
      await server.allow('append');
      await isWell(service);
      expect(service.stdout.match(/the event store [^";]*/g)).toEqual([
        'the event store refuses its user',
        'the event store is back',
      ]);
    } finally {
      await service.stop();
      await server.close();
    }
  });
});

describe('a log that moves to another store', () => {
  let server: KurrentUnderTest;
  let service: RunningService;
  const started: RunningService[] = [];

  beforeAll(async () => {
    server = await startKurrent();
  });
  afterEach(async () => {
    for (const running of started.splice(0)) await running.stop();
  });
  afterAll(() => server?.close());

  it('takes everything along, there and back', async () => {
    service = await startService();
    started.push(service);
    const { stateDir } = service;
    for (let count = 0; count < 5; count += 1) await submit(service);
    const listed = async (running: RunningService) =>
      (await upToDate(() => running.call('GET', '/v1/actions?limit=100', { key: service.adminKey }))).json['data'];
    const before = await listed(service);
    const to = ['migrate', 'events', '--to', server.url, '--json'];
    const refused = await runAgs(to, { env: service.environment });
    expect(refused).toMatchObject({ code: 1, error: { code: 'conflict' } });
    expect(refused.error['message']).toMatch(/standalone.*Stop all of its processes/);
    await service.kill('SIGTERM');
    const here = service.environment;
    const intact = await audited(here);

    const moved = await runAgs(to, { env: here });
    expect(moved).toMatchObject({ code: 0, object: { object: 'event_migration', events: intact['events'] } });
    const again = await runAgs(to, { env: here });
    expect(again).toMatchObject({ code: 0, object: { events: null, copied: 0, store: moved.object['store'] } });
    const there = { ...here, EVENT_STORE_URL: server.url };
    expect(await audited(there)).toEqual(intact);

    const onKurrent = await startService({ stateDir, env: { EVENT_STORE_URL: server.url } });
    started.push(onKurrent);
    await isWell(onKurrent);
    expect(await listed(onKurrent)).toEqual(before);
    const further = await onKurrent.call('POST', '/v1/actions', { key: service.agentKey, body: refusedCall });
    expect(further.error['action']).toMatchObject({ state: 'sealed' });
    await onKurrent.kill('SIGTERM');

    // The PostgreSQL of the service still holds what it had: only the rest is copied.
    const whole = await audited(there);
    const back = await runAgs(['migrate', 'events', '--to', 'database', '--json'], { env: there });
    expect(back).toMatchObject({ code: 0, object: { events: whole['events'] } });
    expect(back.object['copied']).toBeLessThan(Number(whole['events']) / 2);
    expect(await audited(here)).toEqual(whole);
    const onceMore = await runAgs(['migrate', 'events', '--from', 'env:LOG', '--to', server.url], {
      env: { ...here, LOG: server.url },
    });
    expect(onceMore).toMatchObject({ code: 2 });
    expect(onceMore.stderr).toContain('one and the same store');
  });

  it('goes into no store that holds another', async () => {
    service = await startService();
    started.push(service);
    await submit(service);
    await service.kill('SIGTERM');
    const run = await runAgs(['migrate', 'events', '--to', server.url, '--json'], { env: service.environment });
    expect(run).toMatchObject({ code: 1, error: { code: 'event_store_unusable' } });
    expect(run.error['message']).toContain('The target holds another log');
    expect(await audited(service.environment)).toMatchObject({ result: 'intact' });
  });
});

describe('a target that takes no log', () => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startService();
    await service.kill('SIGTERM');
  });
  afterAll(() => service?.stop());

  const refused = async (...places: readonly string[]) => {
    const run = await runAgs(['migrate', 'events', ...places, '--json'], { env: service.environment });
    return { code: run.code, said: run.error['code'], message: String(run.error['message']) };
  };

  const startThatFails = async (env: NodeJS.ProcessEnv): Promise<string> => {
    const child = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'standalone'], { env });
    const [said] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    return said;
  };

  it.each([
    ['event_store_unusable', 'esdb://127.0.0.1:1?tls=false'],
    ['database_unavailable', 'postgres://ags:canary@127.0.0.1:1/log'],
  ])('is told by the option that names it, where it does not answer: %s', async (code, url) => {
    const target = await refused('--to', url);
    expect(target).toMatchObject({ code: 2, said: code });
    expect(target.message).toContain('Check --to and that it runs');
    expect(target.message).not.toContain('canary');
    const source = await refused('--from', url, '--to', 'database');
    expect(source.message).toContain('Check --from and that it runs');
  });

  it('is told of where somebody else has a stream of the name under which a store has its id', async () => {
    const server = await startKurrent();
    const log = new KurrentEventStore({ url: server.url });
    await log.append({ stream: 'store', expectedRevision: 'no_stream', events: [newEvent({ type: 'ItemSold' })] });
    const target = await refused('--to', server.url);
    expect(target).toMatchObject({ code: 1, said: 'event_store_unusable' });
    expect(target.message).toContain('Give one in which nothing was ever written');
    const there = { ...service.environment, EVENT_STORE_URL: server.url };
    const found = (await runDoctor([], { env: there })).objects;
    expect(found.find(({ check }) => check === 'event_store')).toMatchObject({ status: 'problem' });
    expect((await startThatFails(there)).split('\n').at(-2), 'and no stack').toBe(target.message);
    expect(await log.readAll(-1n, 10)).toHaveLength(1);
    await log.close();
    await server.close();
  });
});
