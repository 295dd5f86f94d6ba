import { operatorMetadata } from '#libs/domain/kernel';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AgentKey, cookiesOf, EventScene, isAbout } from '../../../../test/support/event-scene.js';
import { EventStreamClient } from '../../../../test/support/event-stream-client.js';
import { PeopleBench } from '../../../../test/support/people-bench.js';

let scene: EventScene;
let acting: AgentKey;
let other: AgentKey;

beforeAll(async () => {
  scene = await EventScene.start();
  acting = await scene.agentKey('acting');
  other = await scene.agentKey('other');
});
afterAll(() => scene?.bench.close());
afterEach(() => scene.closeStreams());

describe('a stream of events is refused before its first byte', () => {
  it.each([
    ['types=action', 'types'],
    ['types=', 'types'],
    ['types=.*', 'types'],
    ['types=*', 'types'],
    ['types=action.*,', 'types'],
    [`types=${'action.*,'.repeat(140)}action.*`, 'types'],
    ['agent=support', 'agent'],
    ['last_event_id=1', 'last_event_id'],
    ['last_event_id=', 'last_event_id'],
    [`last_event_id=a.${'1'.repeat(20)}`, 'last_event_id'],
    [`last_event_id=${'a'.repeat(33)}.1`, 'last_event_id'],
    ['last_event_id=A.1', 'last_event_id'],
    ['cursor=1', 'cursor'],
    ['types=deed.sealed&types=deed.sealed', 'types'],
  ])('with the query %s', async (query, param) => {
    const { status, error } = await scene.bench.browser().get(`/v1/events?${query}`, scene.bench.adminKey);
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', param]);
  });

  it('with a bad header, also where the parameter is good', async () => {
    const headers = { ...scene.bench.adminKey, 'Last-Event-ID': 'nonsense' };
    const { status, error } = await scene.bench.browser().get('/v1/events?last_event_id=a.1', headers);
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', 'Last-Event-ID']);
  });

  it('to an agent that asks for another’s', async () => {
    const { status, error } = await scene.bench.browser().get(`/v1/events?agent=${other.agent}`, acting.headers);
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', 'agent']);
  });

  it('to an agent’s key without actions:read', async () => {
    const { headers } = await scene.agentKey('deaf', ['actions:execute']);
    const { status, error } = await scene.bench.browser().get('/v1/events', headers);
    expect([status, error['code']]).toEqual([403, 'insufficient_scope']);
  });

  it('the ninth of a person, and not of another; the eighth again once one has closed (rule EVENT-4)', async () => {
    const viewer = await scene.bench.member(scene.owner, 'viewer@example.com', 'viewer');
    const streams = [];
    for (let count = 0; count < 8; count += 1) streams.push(await scene.open(cookiesOf(viewer)));
    const ninth = await viewer.get('/v1/events');
    expect([ninth.status, ninth.error['code'], ninth.headers.get('retry-after')]).toEqual([429, 'rate_limited', '5']);
    await scene.open(cookiesOf(scene.owner));
    streams[3]!.close();
    await expect.poll(async () => (await scene.answered(cookiesOf(viewer))).response.statusCode).toBe(200);
  });
});

describe('the end of a stream of events', () => {
  it('comes with its session, and says so at once', async () => {
    const viewer = await scene.bench.member(scene.owner, 'leaves@example.com', 'viewer');
    const stream = await scene.open(cookiesOf(viewer));
    await viewer.post('/v1/auth/logout');
    await stream.untilEnded();
    expect(stream.messages.at(-1)).toMatchObject({
      type: 'session_ended',
      data: { code: 'session_expired', message: expect.any(String) as string },
    });
  });

  it('comes with its membership, and another’s goes on', async () => {
    const viewer = await scene.bench.member(scene.owner, 'removed@example.com', 'viewer');
    const [removed, kept] = [await scene.open(cookiesOf(viewer)), await scene.open(cookiesOf(scene.owner))];
    const me = (await viewer.get('/v1/me')).json['membership'] as { id: string };
    expect((await scene.owner.send('DELETE', `/v1/org/members/${me.id}`)).status).toBe(200);
    await removed.untilEnded();
    expect(removed.types.at(-1)).toBe('session_ended');
    const id = await scene.act(acting);
    await kept.until(3, isAbout(id));
  });

  it('comes with its key, and with a Stop of its agent', async () => {
    const { agent, headers } = await scene.agentKey('short-lived');
    const [keys] = (await scene.owner.get(`/v1/agents/${agent}/keys`)).json['data'] as { id: string }[];
    const revoked = await scene.open(headers);
    expect((await scene.owner.send('DELETE', `/v1/agents/${agent}/keys/${keys!.id}`)).status).toBe(200);
    await revoked.untilEnded();
    expect(revoked.messages.at(-1)).toMatchObject({ type: 'session_ended', data: { code: 'api_key_revoked' } });
    const stopped = await scene.open(other.headers);
    await scene.setStatus(other, 'stop');
    await stopped.untilEnded();
    expect(stopped.messages.at(-1)).toMatchObject({ type: 'session_ended', data: { code: 'agent_stopped' } });
    await scene.setStatus(other, 'resume');
  });

  it('keeps no session from ending idle: a stream is no request', async () => {
    const viewer = await scene.bench.member(scene.owner, 'idle@example.com', 'viewer');
    const read = `SELECT last_seen_ms FROM people.sessions WHERE session = $1`;
    const { id } = (await viewer.get('/v1/me')).json['session'] as { id: string };
    const stream = await scene.open(cookiesOf(viewer));
    const { durable } = scene.bench.deployment.database;
    await durable.query(`UPDATE people.sessions SET last_seen_ms = last_seen_ms - 600000 WHERE session = $1`, [id]);
    const before = await durable.query(read, [id]);
    // Rings the bell of everybody in the organization.
    await scene.setStatus(other, 'stop');
    await scene.setStatus(other, 'resume');
    await stream.untilType('agent.resumed');
    expect((await durable.query(read, [id])).rows).toEqual(before.rows);
    await viewer.get('/v1/me');
    expect((await durable.query(read, [id])).rows).not.toEqual(before.rows);
  });

  it('comes with the drain, and the process waits for nobody', async () => {
    const drained = await PeopleBench.start();
    const metadata = operatorMetadata(drained.deployment, drained.org);
    const browser = drained.browser();
    await browser.use(await drained.deployment.persons().issueLink(drained.org, drained.owner, metadata));
    const stream = await EventStreamClient.open(drained.url, cookiesOf(browser));
    await stream.untilType('hello');
    const stuck = await EventStreamClient.open(drained.url, cookiesOf(browser));
    stuck.stand();
    await drained.close();
    expect([stream.hasEnded, stream.types]).toEqual([true, ['hello']]);
    stuck.close();
  });
});
