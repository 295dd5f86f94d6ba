import { digestOf } from '#libs/crypto';
import { type ConnectorCommand, readConfig } from '#libs/domain/connectors';
import { publicIdOf } from '#libs/domain/events';
import { actionDecider } from '#libs/domain/gate';
import { categoryOf, derivedId, idInStream, operatorMetadata, START, type RecordedEvent } from '#libs/domain/kernel';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AgentKey, cookiesOf, EventScene, isAbout, objectOf } from '../../../../test/support/event-scene.js';
import { openEventSource } from '../../../../test/support/event-source.js';
import type { StreamedEvent } from '../../../../test/support/event-stream-client.js';

type Json = Record<string, unknown>;

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

describe('GET /v1/events', () => {
  it('answers with the head of an event stream, and tells first how soon to come again', async () => {
    const stream = await scene.open(scene.bench.adminKey);
    const { headers } = stream.response;
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'service-version': '2026-10-01',
      'service-request-id': expect.stringMatching(/^req_/) as string,
      'x-content-type-options': 'nosniff',
    });
    expect(stream.bytes).toMatch(/^retry: 3000\n\nid: [a-z0-9]{16}\.\d+\nevent: hello\ndata: \{[^\n]+\}\n\n$/);
    expect(stream.hello).toEqual({
      object: 'stream',
      org: scene.bench.org,
      instance: expect.stringMatching(/^[a-z0-9]{16}$/) as string,
      resumed: false,
      heartbeat_s: 15,
      server_time: expect.stringMatching(/^2\d{3}-.*Z$/) as string,
    });
  });

  it('answers a HEAD with the head alone, and opens nothing', async () => {
    const response = await fetch(`${scene.bench.url}/v1/events`, { method: 'HEAD', headers: scene.bench.adminKey });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(await response.text()).toBe('');
  });

  it('tells a person and an admin key all of an action, in the shape of its list', async () => {
    const streams = [await scene.open(cookiesOf(scene.owner)), await scene.open(scene.bench.adminKey)];
    const id = await scene.act(acting);
    for (const stream of streams) {
      const told = await stream.until(3, isAbout(id));
      expect(told.map(({ type }) => type)).toEqual(['action.created', 'action.decided', 'deed.sealed']);
      expect(told.map(({ id: cursor }) => cursor)).toEqual(
        told.map(() => expect.stringMatching(new RegExp(`^${String(stream.hello['instance'])}\\.\\d+$`)) as string),
      );
      expect(told[0]!.data).toEqual({
        object: 'event',
        id: expect.stringMatching(/^evt_/) as string,
        type: 'action.created',
        api_version: '2026-10-01',
        created_at: expect.any(String) as string,
        livemode: false,
        org: scene.bench.org,
        hydrated: true,
        data: { object: expect.any(Object) as object },
      });
    }
    const listed = (await scene.owner.get('/v1/actions?limit=1')).json['data'] as Json[];
    const last = streams[0]!.events.filter(({ type }) => type === 'action.decided').at(-1)!;
    expect(Object.keys(objectOf(last))).toEqual(Object.keys(listed[0]!));
    expect(objectOf(last)).toMatchObject({ id, status: 'denied', agent: { id: acting.agent, name: 'acting' } });
    const deed = streams[0]!.events.find(({ type }) => type === 'deed.sealed')!;
    expect([deed.data['hydrated'], Object.keys(objectOf(deed))]).toEqual([
      true,
      ['object', 'id', 'seq', 'kind', 'action', 'issued_at'],
    ]);
  });

  it('tells an agent of its own actions alone, whatever it asks for', async () => {
    const [mine, all] = [await scene.open(acting.headers), await scene.open(scene.bench.adminKey)];
    const [own, another] = [await scene.act(acting), await scene.act(other)];
    await scene.setStatus(other, 'stop');
    await scene.setStatus(other, 'resume');
    await all.untilType('agent.resumed');
    await mine.until(3, isAbout(own));
    expect(mine.events.filter(isAbout(another))).toEqual([]);
    expect(mine.events.every((event) => JSON.stringify(event.data).includes(own))).toBe(true);
    expect(all.events.filter(isAbout(another))).toHaveLength(3);
    const stopped = all.events.find(({ type }) => type === 'agent.stopped')!;
    expect(objectOf(stopped)).toMatchObject({ object: 'agent', id: other.agent, name: 'other', active_keys: 1 });
  });

  it('tells an approval as its list does, and an agent’s key no more than its state', async () => {
    const [all, mine] = [await scene.open(scene.bench.adminKey), await scene.open(acting.headers)];
    const approval = await scene.furnisher.approval(acting.headers['Authorization']!.slice('Bearer '.length));
    const [whole] = await all.until(1, (message) => message.type === 'approval.requested');
    const [thin] = await mine.until(1, (message) => message.type === 'approval.requested');
    const listed = (await scene.bench.browser().get('/v1/approvals', scene.bench.adminKey)).json['data'] as Json[];
    expect([whole!.data['hydrated'], objectOf(whole!)]).toEqual([true, listed.find(({ id }) => id === approval)]);
    expect(thin!.data['hydrated']).toBe(false);
    expect(objectOf(thin!)).toEqual({
      object: 'approval',
      id: approval,
      status: 'pending',
      action: objectOf(whole!)['action'],
      agent: acting.agent,
      tool: expect.stringMatching(/^spare-\d+\.remove$/) as string,
      rule_id: 'asked',
      required: 1,
      countersigned: 0,
      deed: null,
    });
    // What is thin everywhere: a policy has no list shape on a stream.
    const activated = all.events.find(({ type }) => type === 'policy.activated')!;
    expect([activated.data['hydrated'], Object.keys(objectOf(activated))]).toEqual([
      false,
      ['object', 'id', 'version', 'mode'],
    ]);
  });

  it('tells people and admin keys of tools that a server changed, by their names, and no agent', async () => {
    const [all, mine] = [
      await scene.open(scene.bench.adminKey, 'types=connector.*,deed.sealed'),
      await scene.open(acting.headers, 'types=connector.*,action.*'),
    ];
    const { bench } = scene;
    const id = derivedId('con', 'of the tools that change');
    const url = 'https://mcp.example.com/mcp';
    const { config, configHash } = readConfig('mcp_http', { url, auth: { kind: 'none' } }, { isProduction: true });
    const run = (command: Pick<ConnectorCommand, 'type' | 'data'>) => {
      const metadata = operatorMetadata(bench.deployment, bench.org);
      return bench.deployment.connectors.run(bench.org, 'issues', { ...command, metadata } as ConnectorCommand);
    };
    /** Each tool with a word for its definition. */
    const list = (tools: Readonly<Record<string, string>>, before: string | null) => {
      const hints = { read_only: false, destructive: true, idempotent: false, open_world: true };
      const listed = Object.entries(tools).map(([name, word]) => ({ name, definition: digestOf(word), hints }));
      const listDigest = digestOf(JSON.stringify(tools));
      const since = { configHash, listDigest: before === null ? null : digestOf(before) };
      const said = { protocol: '2026-07-28', listDigest, tools: listed, leftOut: [] };
      return run({ type: 'RecordTools', data: { connector: id, list: said, rule: 'changed', since } });
    };
    const about = { org: bench.org, connector: id, name: 'issues', type: 'mcp_http' as const, description: null };
    await run({ type: 'CreateConnector', data: { ...about, config, configHash } });
    await list({ search: 'one', drop: 'one' }, null);
    await list({ search: 'two', extra: 'one' }, JSON.stringify({ search: 'one', drop: 'one' }));
    const accepted = [{ name: 'search', definition: digestOf('two') }];
    await run({ type: 'AcceptTools', data: { connector: id, tools: accepted } });
    const told = await all.until(2, ({ type }) => type === 'connector.tools_changed');
    expect(told.map((event) => [event.data['hydrated'], event.data['livemode'], objectOf(event)])).toEqual([
      [
        false,
        true,
        {
          object: 'connector',
          id,
          name: 'issues',
          tools: [
            { name: 'search', status: 'changed' },
            { name: 'drop', status: 'gone' },
            { name: 'extra', status: 'accepted' },
          ],
          has_more: false,
          counts: { accepted: 1, new: 0, changed: 1, gone: 1 },
        },
      ],
      [
        false,
        true,
        {
          object: 'connector',
          id,
          name: 'issues',
          tools: [{ name: 'search', status: 'accepted' }],
          has_more: false,
          counts: { accepted: 2, new: 0, changed: 0, gone: 1 },
        },
      ],
    ]);
    const last = await scene.act(acting);
    await mine.until(2, isAbout(last));
    expect(mine.events.filter(({ type }) => type.startsWith('connector.'))).toEqual([]);
  });

  it('narrows by types, families and agent', async () => {
    const deeds = await scene.open(scene.bench.adminKey, 'types=deed.sealed,agent.*');
    const others = await scene.open(scene.bench.adminKey, `agent=${other.agent}`);
    const [own, another] = [await scene.act(acting), await scene.act(other)];
    await deeds.until(1, isAbout(another));
    await others.until(3, isAbout(another));
    expect(new Set(deeds.events.map(({ type }) => type))).toEqual(new Set(['deed.sealed']));
    expect(others.events.filter(isAbout(own))).toEqual([]);
  });
});

describe('what a stream of events shows', () => {
  /** What of the log is told, by a table of the test's own. */
  const TOLD: Readonly<Record<string, string>> = {
    ActionSubmitted: 'action.created',
    ActionDecided: 'action.decided',
    ExecutionFinished: 'action.executed',
    ActionWitnessed: 'action.witnessed',
    ApprovalRequested: 'approval.requested',
    ApprovalDecided: 'approval.decided',
    ApprovalCountersigned: 'approval.countersigned',
    ActionCancelled: 'approval.decided',
    DeedSealed: 'deed.sealed',
    AgentStopped: 'agent.stopped',
    AgentResumed: 'agent.resumed',
    OrganizationStopped: 'org.stopped',
    OrganizationStarted: 'org.started',
    PolicyActivated: 'policy.activated',
  };

  const wholeLog = async (): Promise<readonly RecordedEvent[]> => {
    const log: RecordedEvent[] = [];
    for (let page = await scene.bench.deployment.database.store.readAll(START, 1_000); page.length > 0;) {
      log.push(...page);
      page = await scene.bench.deployment.database.store.readAll(log.at(-1)!.position, 1_000);
    }
    return log;
  };

  it('is exactly what the log says, in its order, for each credential and filter', async () => {
    const spare = await scene.agentKey('spare');
    const begun = (await wholeLog()).at(-1)!.position;
    const agentOf = (filter: string | null) => (whose: string | null) => filter === null || whose === filter;
    const streams = [
      { stream: await scene.open(cookiesOf(scene.owner)), types: /./, mayShow: agentOf(null) },
      { stream: await scene.open(scene.bench.adminKey, 'types=action.*'), types: /^action/, mayShow: agentOf(null) },
      { stream: await scene.open(acting.headers), types: /^action|^approval|^deed/, mayShow: agentOf(acting.agent) },
      { stream: await scene.open(other.headers, 'types=deed.sealed'), types: /^deed/, mayShow: agentOf(other.agent) },
      {
        stream: await scene.open(scene.bench.adminKey, `agent=${other.agent}`),
        types: /./,
        mayShow: agentOf(other.agent),
      },
    ];
    for (let round = 0; round < 12; round += 1) {
      await Promise.all([scene.act(acting), scene.act(other), scene.act(acting)]);
      if (round % 4 === 1) await scene.furnisher.approval(acting.headers['Authorization']!.slice('Bearer '.length));
      if (round % 4 === 2) await scene.setStatus(spare, 'stop');
      if (round % 4 === 2) await scene.setStatus(spare, 'resume');
    }
    await scene.setStatus(spare, 'stop');
    const log = (await wholeLog()).filter(({ position }) => position > begun);
    const agents = new Map<string, string>();
    const told = log.flatMap((recorded) => {
      const data = JSON.parse(recorded.data) as Json;
      if (recorded.type === 'ActionSubmitted') agents.set(String(data['action']), String(data['agent']));
      const isAdmin = data['kind'] === 'admin';
      const ofAction = categoryOf(recorded.stream) === actionDecider.category;
      const whose = isAdmin
        ? null
        : (agents.get(String(data['action'])) ?? (data['agent'] as string | undefined) ?? null);
      const type = TOLD[recorded.type];
      if (ofAction) expect(data['action']).toBe(idInStream(recorded.stream));
      return type === undefined
        ? []
        : [{ type, whose, evt: publicIdOf(recorded.id), seq: recorded.position.toString() }];
    });
    expect(told.length).toBeGreaterThan(100);
    for (const { stream, types, mayShow } of streams) {
      const due = told.filter(({ type, whose }) => types.test(type) && mayShow(whose));
      // Of what was recorded before it was opened a stream may tell the last.
      const isDue = ({ data, id }: StreamedEvent): boolean =>
        data['object'] === 'event' && BigInt(id.split('.')[1] ?? 0) > begun;
      const heard = await stream.until(due.length, isDue);
      const instance = String(stream.hello['instance']);
      expect(heard.map((event) => [event.type, event.data['id'], event.id])).toEqual(
        due.map(({ type, evt, seq }) => [type, evt, `${instance}.${seq}`]),
      );
    }
  });

  it('is the same to a client of another’s making', async () => {
    const source = openEventSource(`${scene.bench.url}/v1/events?types=deed.sealed`, scene.bench.adminKey);
    const heard: Json[] = [];
    await new Promise<void>((resolve) => {
      source.addEventListener('hello', () => resolve());
    });
    const plain = await scene.open(scene.bench.adminKey, 'types=deed.sealed');
    source.addEventListener('deed.sealed', ({ data, lastEventId: id }) => {
      heard.push({ id, data: JSON.parse(data) as Json });
    });
    const id = await scene.act(acting);
    await plain.until(1, isAbout(id));
    await expect
      .poll(() => heard.slice(-plain.events.length))
      .toEqual(plain.events.map(({ id: cursor, data }) => ({ id: cursor, data })));
    source.close();
  });
});

describe('a client that comes back', () => {
  it('is told what it missed, once, and then what is new', async () => {
    const first = await scene.open(scene.bench.adminKey);
    const seen = await scene.act(acting);
    await first.until(3, isAbout(seen));
    const cursor = first.events.find(isAbout(seen))!.id;
    first.close();
    const away = await scene.act(acting);
    const query = `last_event_id=${cursor}`;
    const [byParameter, byHeader] = [
      await scene.open(scene.bench.adminKey, query),
      await scene.open({ ...scene.bench.adminKey, 'Last-Event-ID': cursor }, 'last_event_id=another.1'),
    ];
    const later = await scene.act(acting);
    for (const stream of [byParameter, byHeader]) {
      expect(stream.hello['resumed']).toBe(true);
      await stream.until(3, isAbout(later));
      expect(stream.types).not.toContain('resync');
      // The one that was seen last is not told again.
      expect(stream.events.filter(isAbout(seen)).map(({ type }) => type)).toEqual(['action.decided', 'deed.sealed']);
      expect(stream.events.filter(isAbout(away))).toHaveLength(3);
      expect(new Set(stream.events.map(({ data }) => data['id'])).size).toBe(stream.events.length);
    }
  });

  it('comes back to where it began when it heard nothing, also after another instance', async () => {
    const unknown = await scene.open(scene.bench.adminKey, 'types=agent.*&last_event_id=a1b2c3d4e5f60718.4711');
    await unknown.untilType('resync');
    const [hello] = await unknown.untilType('hello');
    unknown.close();
    const missed = await scene.act(acting);
    const stream = await scene.open(scene.bench.adminKey, `last_event_id=${hello!.id}`);
    expect([stream.hello['resumed'], (await stream.untilType('hello'))[0]!.id]).toEqual([true, hello!.id]);
    await stream.until(3, isAbout(missed));
    expect(stream.types).not.toContain('resync');
  });

  it('is told that another instance knows nothing of its cursor', async () => {
    const stream = await scene.open(scene.bench.adminKey, 'last_event_id=a1b2c3d4e5f60718.4711');
    await stream.untilType('resync');
    expect(stream.messages.map(({ data }) => data)).toMatchObject([
      { object: 'stream', resumed: false },
      { object: 'resync', reason: 'other_instance' },
    ]);
  });

  it.each([
    ['is older than all that is kept', '0'],
    ['was never given out', '9'.repeat(19)],
  ])('is told that its cursor has expired when it %s', async (_, seq) => {
    const instance = String((await scene.open(scene.bench.adminKey)).hello['instance']);
    const stream = await scene.open(scene.bench.adminKey, `last_event_id=${instance}.${seq}`);
    await stream.untilType('resync');
    expect(stream.messages.map(({ data }) => data)).toMatchObject([
      { object: 'stream', resumed: false },
      { object: 'resync', reason: 'cursor_expired' },
    ]);
  });
});
