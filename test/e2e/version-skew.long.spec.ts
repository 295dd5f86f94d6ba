import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventIdOf } from '#libs/domain/kernel';
import { PostgresEventStore } from '#libs/infra/event-store';
import { connectCrm } from '../support/crm.js';
import { Fleet } from '../support/fleet.js';
import type { ProgramName } from '../support/fleet-process.js';
import { runAgs } from '../support/run-ags.js';
import { callAt, type Answer } from '../support/service.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const DEADLINE_MS = 180_000;
const PATIENCE = { timeout: 60_000, interval: 100 };
const SETTINGS = { SERVICE_SWEEP_INTERVAL_MS: '500' };
/** As the newer version names what the older one has another name for. */
const NEWER_TYPE = 'ConnectorPaused';
const KNOWN_TYPE = 'ConnectorDisabled';

/** One organization as its admin and its agent see it. */
interface Tenant {
  readonly org: string;
  readonly adminKey: string;
  readonly agentKey: string;
}

describe('an event of a newer version in a stream that every program folds', () => {
  let fleet: Fleet;
  let upstream: Upstream;
  let concerned: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    fleet = await Fleet.prepare(SETTINGS);
    upstream = await startUpstream();
    await fleet.start('projector', 1);
    await fleet.start('worker', 1);
    await fleet.start('api', 1);
    concerned = { org: fleet.org, adminKey: fleet.adminKey, agentKey: fleet.agentKey };
    other = await secondTenant();
    for (const { adminKey } of [concerned, other]) {
      await connectCrm({ call: (...call) => fleet.call(...call), adminKey }, upstream.baseUrl);
    }
    for (const tenant of [concerned, other]) expect(await act(tenant)).toMatchObject({ status: 200 });
  }, DEADLINE_MS);
  afterAll(async () => {
    await fleet?.stop();
    await upstream?.close();
  }, DEADLINE_MS);

  const secondTenant = async (): Promise<Tenant> => {
    const ags = async (...args: readonly string[]) => {
      const { code, objects, stderr } = await runAgs([...args, '--json'], { env: fleet.environment });
      if (code !== 0) throw new Error(stderr);
      return objects.at(-1) ?? {};
    };
    const made = await ags('org', 'create', 'Other');
    const org = String(made['id']);
    const agent = await ags('agents', 'create', 'other-agent', '--org', org);
    return { org, adminKey: String(made['admin_key']), agentKey: String(agent['agent_key']) };
  };

  const act = ({ agentKey }: Tenant): Promise<Answer> =>
    fleet.call('POST', '/v1/actions', {
      key: agentKey,
      body: { tool: 'crm.add_note', args: { id: '42', text: 'x' }, wait: 25 },
    });
  const health = async (): Promise<Readonly<Record<string, unknown>>> => (await fleet.call('GET', '/v1/health')).json;
  /** Lines of the log that say each of these. */
  const said = (program: ProgramName, ...words: readonly string[]): readonly string[] =>
    fleet
      .running(program)
      .flatMap(({ output }) => output.split('\n'))
      .filter((line) => words.every((word) => line.includes(word)));
  const adminDeeds = async (tenant: Tenant): Promise<number> => {
    const { json } = await fleet.call('GET', '/v1/deeds?kind=admin&limit=100', { key: tenant.adminKey });
    return (json['data'] as unknown[]).length;
  };
  /** What `run` does with the log, by another process. */
  const withLog = async (run: (store: PostgresEventStore) => Promise<unknown>): Promise<void> => {
    const store = new PostgresEventStore({
      connectionString: fleet.connectionString,
      applicationName: 'version skew',
      maxReadConnections: 2,
      onConnectionLost: () => undefined,
    });
    await run(store).finally(() => store.close());
  };

  let deedsBefore: number;

  it(
    'is judged by nobody who does not know it, and whatever does not touch it goes on',
    { timeout: DEADLINE_MS },
    async () => {
      deedsBefore = await adminDeeds(concerned);
      await withLog(async (store) => {
        const stream = `connector-${concerned.org}-crm`;
        const recorded = await store.readStream(stream);
        const created = recorded[0]!;
        const revision = recorded.length;
        const { org, connector, name, at } = JSON.parse(created.data) as Record<string, unknown>;
        const data = JSON.stringify({ org, connector, name, at, reason: 'It answered too slowly.' });
        const { metadata } = recorded.at(-1)!;
        const id = eventIdOf({ stream, revision, type: KNOWN_TYPE, data, metadata });
        await store.append({
          stream,
          expectedRevision: revision - 1,
          events: [{ id, type: NEWER_TYPE, data, metadata }],
        });
      });
      const refused = await act(concerned);
      expect([refused.status, refused.error['code']]).toEqual([503, 'service_unavailable']);
      expect(said('api', 'level=error', 'request failed', NEWER_TYPE)).toHaveLength(1);
      expect(await act(other)).toMatchObject({ status: 200, json: { state: 'sealed' } });
      await vi.waitFor(() => {
        expect(said('worker', 'level=error', 'is parked', NEWER_TYPE, concerned.org)).toHaveLength(1);
        expect(said('projector', 'level=error', 'projection=connectors', 'unknown_type')).not.toEqual([]);
      }, PATIENCE);
      const stopped = said('projector', 'projection stopped');
      // Those two fold the stream, and must not guess (rule OPS-5).
      expect(stopped.filter((line) => !/projection=(?:connectors|public_events) /.test(line))).toEqual([]);
      expect(await health()).toMatchObject({ status: 'degraded', checks: { sealing: 'degraded' } });
      expect(await adminDeeds(concerned)).toBe(deedsBefore);
    },
  );

  it('is sealed, listed and obeyed when the newer version has come', { timeout: DEADLINE_MS }, async () => {
    // The newer version, for want of one: what it knows is put in terms of this one, and every process is replaced.
    const client = new pg.Client({ connectionString: fleet.connectionString });
    await client.connect();
    await client.query('update event_store.events set type = $1 where type = $2', [KNOWN_TYPE, NEWER_TYPE]);
    await client.end();
    for (const process of [...fleet.processes]) await fleet.replace(process);
    const refused = await act(concerned);
    expect([refused.status, refused.error['code']]).toEqual([404, 'tool_unknown']);
    await vi.waitFor(async () => expect(await health()).toMatchObject({ status: 'ok' }), PATIENCE);
    await vi.waitFor(async () => expect(await adminDeeds(concerned)).toBe(deedsBefore + 1), PATIENCE);
    const { json } = await callAt(fleet.running('api')[0]!.baseUrl, 'GET', '/v1/connectors', {
      key: concerned.adminKey,
    });
    expect(json['data']).toMatchObject([{ status: 'disabled' }]);
    const audit = await runAgs(['audit', '--json'], { env: fleet.environment });
    expect(audit).toMatchObject({ code: 0, object: { result: 'intact', unsealed: 0 } });
  });
});
