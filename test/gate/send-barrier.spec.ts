import { StopOrganization } from '#libs/domain/agents/handlers';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import type { Accepted, GateSettings, LivingAction } from '#libs/domain/gate';
import { connectorDecider, connectorStreamId } from '#libs/domain/connectors';
import { type ActionId, streamRef } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench, ManualStarter } from '../support/gate-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

/** The tool as it is stored, with its defaults. */
const UPDATE = {
  name: 'update',
  method: 'POST',
  path: '/v1/customers',
  side_effect: 'write',
  idempotent: false,
  args: {},
};

const RETRIED = { ...UPDATE, name: 'fetch', method: 'GET', side_effect: 'read', idempotent: true };

let before: Upstream;
let after: Upstream;
let bench: GateBench;

beforeAll(async () => {
  [before, after] = await Promise.all([startUpstream(), startUpstream()]);
});
afterAll(() => Promise.all([before.close(), after.close()]));
beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore()).prepare(before.baseUrl, [UPDATE]);
});
afterEach(() => bench.close());

/** A call that is accepted here, and executed here after another process has changed the connector. */
const executedAfter = async (changes: JsonObject | (() => Promise<void>)): Promise<ActionId> => {
  const starter = new ManualStarter(bench.executorId, null);
  const { action } = await bench.submit({ tool: 'crm.update' }, bench.handler(starter));
  await (typeof changes === 'function' ? changes() : bench.changeElsewhere(changes));
  const [accepted] = starter.accepted;
  await bench.executor.run(accepted!);
  return action;
};

const outcomeOf = async (id: ActionId) => ((await bench.action(id)) as LivingAction).outcome;

describe('a connector that another process changed between the decision and the first byte', () => {
  it.each<[string, JsonObject]>([
    ['its limits', { timeout_ms: 5_000, max_response_bytes: 1_048_576 }],
    ['another of its tools', { tools: [UPDATE, { ...UPDATE, name: 'other' }] }],
  ])('is read again: %s change nothing of what the policy judged, and the call goes, once', async (_, changes) => {
    const action = await executedAfter(changes);
    expect(await outcomeOf(action)).toMatchObject({ status: 'succeeded' });
    expect([before.countFor(action), after.countFor(action)]).toEqual([1, 0]);
  });

  it.each<[string, () => JsonObject]>([
    ['it leads to another host', () => ({ base_url: after.baseUrl })],
    ['it leads to another path of the host', () => ({ base_url: `${before.baseUrl}/v2` })],
    ['the credential travels in another way', () => ({ auth: { kind: 'query', param: 'key' } })],
    ['other default headers say something else', () => ({ headers: { 'X-Tenant': 'other' } })],
  ])('sends nothing when %s than the policy judged', async (_, changes) => {
    const action = await executedAfter(changes());
    expect(await outcomeOf(action)).toMatchObject({ status: 'failed', error_code: 'connector_unavailable' });
    expect([before.countFor(action), after.countFor(action)]).toEqual([0, 0]);
  });

  it('is read again if its cached state prevents the call', async () => {
    bench.close();
    bench = await new GateBench(new MemoryEventStore()).prepare(before.baseUrl, [UPDATE], { auth: { kind: 'bearer' } });
    const without = await executedAfter({});
    expect(await outcomeOf(without)).toMatchObject({ status: 'failed', error_code: 'credentials_missing' });
    const action = await executedAfter(() => bench.storeCredentialElsewhere());
    expect(await outcomeOf(action)).toMatchObject({ status: 'succeeded' });
    expect([before.countFor(without), before.countFor(action)]).toEqual([0, 1]);
  });

  it('is checked again, and sends nothing, if the kept connection closed during the check', async () => {
    let kept: Socket | null = null;
    const keeping = await startUpstream((_seen, response) => {
      kept = response.socket;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    bench.close();
    const always = { commitHoldsMs: 0 };
    bench = await new GateBench(new MemoryEventStore(), always).prepare(keeping.baseUrl, [RETRIED]);
    await bench.action((await bench.submit({ tool: 'crm.fetch' })).action, (action) => action.state === 'recorded');
    const starter = new ManualStarter(bench.executorId, null);
    const { action } = await bench.submit({ tool: 'crm.fetch' }, bench.handler(starter));
    const heads = bench.store.heads.bind(bench.store);
    const asked = vi.spyOn(bench.store, 'heads').mockImplementationOnce(async (streams) => {
      const answer = await heads(streams);
      await bench.changeElsewhere({ base_url: after.baseUrl });
      // After this the connection is closed on both sides, and the client that kept it knows.
      await new Promise((resolve) => kept?.once('close', resolve).end());
      return answer;
    });
    await bench.executor.run(starter.accepted[0]!);
    asked.mockRestore();
    expect(await outcomeOf(action)).toMatchObject({ status: 'failed', error_code: 'connector_unavailable' });
    expect([keeping.countFor(action), after.countFor(action)]).toEqual([0, 0]);
    await keeping.close();
  });

  it('sends nothing when the tool is no longer the one that was judged', async () => {
    const action = await executedAfter({ tools: [{ ...UPDATE, path: '/v1/invoices' }] });
    expect(await outcomeOf(action)).toMatchObject({ status: 'failed', error_code: 'connector_unavailable' });
    expect(before.countFor(action)).toBe(0);
  });
});

describe('what the commit of the claim has checked', () => {
  const HOLDS_LONG = { commitHoldsMs: 60_000 };
  const prepared = async (settings: Partial<GateSettings>, tools = [UPDATE]): Promise<void> => {
    bench.close();
    bench = await new GateBench(new MemoryEventStore(), settings).prepare(before.baseUrl, tools);
    await bench.action((await bench.submit({ tool: 'crm.update' })).action, (action) => action.state === 'recorded');
  };
  const accept = async (since?: 'remembered'): Promise<Accepted> => {
    const starter = new ManualStarter(bench.executorId, null);
    await bench.submit({ tool: 'crm.update' }, bench.handler(starter), bench.metadata(), since);
    return starter.accepted[0]!;
  };
  /** How often the store is asked for stream heads between the claim and the outcome. */
  const questionsOf = async (accepted: Accepted): Promise<number> => {
    const heads = vi.spyOn(bench.store, 'heads');
    await bench.executor.run(accepted);
    const count = heads.mock.calls.length;
    heads.mockRestore();
    return count;
  };

  it('is not checked again before the first byte', async () => {
    await prepared(HOLDS_LONG);
    const accepted = await accept('remembered');
    expect(await questionsOf(accepted)).toBe(0);
    expect(await outcomeOf(accepted.id)).toMatchObject({ status: 'succeeded' });
    expect(before.countFor(accepted.id)).toBe(1);
  });

  it.each<[string, Partial<GateSettings>, 'remembered' | undefined]>([
    ['that was long ago', { commitHoldsMs: 0 }, 'remembered'],
    ['it required nothing', HOLDS_LONG, undefined],
  ])('is asked for where %s', async (_, settings, since) => {
    await prepared(settings);
    const accepted = await accept(since);
    expect(await questionsOf(accepted)).toBe(1);
    expect(before.countFor(accepted.id)).toBe(1);
  });

  it('no longer counts after a while, so that a later Stop is noticed', async () => {
    await prepared({ commitHoldsMs: 0 });
    const accepted = await accept('remembered');
    await bench.elsewhere().commands.execute(new StopOrganization(bench.org, null, bench.metadata()));
    await bench.executor.run(accepted);
    expect(await outcomeOf(accepted.id)).toMatchObject({ status: 'failed', error_code: 'org_stopped' });
    expect(before.countFor(accepted.id)).toBe(0);
  });

  it('does not count if this process has loaded a newer connector since', async () => {
    await prepared(HOLDS_LONG);
    const accepted = await accept('remembered');
    await bench.changeElsewhere({ base_url: after.baseUrl });
    await bench.streams.load(streamRef(connectorDecider, connectorStreamId(bench.org, 'crm')));
    expect(await questionsOf(accepted)).toBeGreaterThan(0);
    expect(await outcomeOf(accepted.id)).toMatchObject({ status: 'failed', error_code: 'connector_unavailable' });
    expect([before.countFor(accepted.id), after.countFor(accepted.id)]).toEqual([0, 0]);
  });

  it('does not count for a redirect, which a later Stop prevents', async () => {
    let stop: () => Promise<unknown> = () => Promise.resolve();
    const redirecting = await startUpstream(({ path }, response) => {
      const isFirst = path.startsWith('/v1/customers');
      void stop().then(() => response.writeHead(isFirst ? 307 : 200, isFirst ? { location: '/v1/else' } : {}).end());
    });
    bench.close();
    bench = await new GateBench(new MemoryEventStore(), HOLDS_LONG).prepare(redirecting.baseUrl, [UPDATE, RETRIED], {
      redirects: 'same_host',
    });
    await bench.action((await bench.submit({ tool: 'crm.fetch' })).action, (action) => action.state === 'recorded');
    const starter = new ManualStarter(bench.executorId, null);
    await bench.submit({ tool: 'crm.fetch' }, bench.handler(starter), bench.metadata(), 'remembered');
    stop = () => bench.elsewhere().commands.execute(new StopOrganization(bench.org, null, bench.metadata()));
    await bench.executor.run(starter.accepted[0]!);
    expect(redirecting.countFor(starter.accepted[0]!.id)).toBe(1);
    await redirecting.close();
  });

  it('does not count for a second attempt', async () => {
    await prepared(HOLDS_LONG, [UPDATE, RETRIED]);
    let calls = 0;
    const failing = await startUpstream((_request, response) => {
      calls += 1;
      response.writeHead(calls === 1 ? 503 : 200, { 'content-type': 'application/json' }).end('{}');
    });
    await bench.changeElsewhere({ base_url: failing.baseUrl });
    await bench.submit({ tool: 'crm.update' });
    const starter = new ManualStarter(bench.executorId, null);
    await bench.submit({ tool: 'crm.fetch' }, bench.handler(starter), bench.metadata(), 'remembered');
    calls = 0;
    expect(await questionsOf(starter.accepted[0]!)).toBe(1);
    expect(calls).toBe(2);
    await failing.close();
  });
});
