import { StopOrganization } from '#libs/domain/agents/handlers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import {
  DueActions,
  DueActionSweeper,
  dueActionChange,
  ReportEdgeResult,
  ReportEdgeResultHandler,
  type DueAction,
  type EdgeResult,
  type LivingAction,
} from '#libs/domain/gate';
import { decodeEvent, START, streamOf, timestampOf, type ActionId, type Timestamp } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { collectingLogger } from '../support/collecting-logger.js';
import { GateBench, ManualStarter } from '../support/gate-bench.js';

const TOOLS = [{ name: 'update', method: 'POST', path: '/v1/customers', args: {} }];
const TIMEOUT_MS = 60_000;
const MCP = `version: 1
default: deny
rules:
  - id: everything
    match:
      tools:
        - crm.*
        - files.*
    decision: allow
`;

/** Due actions, folded from the whole log at each call. */
class FoldedDueActions extends DueActions {
  constructor(private readonly bench: GateBench) {
    super();
  }
  override async dueBy(now: Timestamp, after: DueAction | null, limit: number): Promise<readonly DueAction[]> {
    const open = new Map<string, DueAction>();
    for (const recorded of await this.bench.store.readAll(START, 100_000)) {
      const change = dueActionChange(decodeEvent(recorded).event);
      if (change?.change === 'open') open.set(change.due.action, change.due);
      if (change?.change === 'close') open.delete(change.action);
    }
    const keyOf = ({ dueAt, action }: DueAction): string => `${dueAt} ${action}`;
    return [...open.values()]
      .filter((due) => due.dueAt <= now && (after === null || keyOf(due) > keyOf(after)))
      .sort((one, other) => keyOf(one).localeCompare(keyOf(other)))
      .slice(0, limit);
  }
}

let bench: GateBench;
let logger: ReturnType<typeof collectingLogger>;
let sweeper: DueActionSweeper;

beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore(), { edgeResultTimeoutMs: TIMEOUT_MS }).prepare(
    'http://127.0.0.1:9',
    TOOLS,
  );
  logger = collectingLogger();
  sweeper = sweeperOf();
});
afterEach(() => bench.close());

const sweeperOf = (): DueActionSweeper =>
  new DueActionSweeper(bench.gate, new FoldedDueActions(bench), bench.bus, logger);

const authorize = async (
  call: Parameters<GateBench['submit']>[0] = {},
  metadata = bench.metadata(),
): Promise<ActionId> => {
  const starter = new ManualStarter(bench.executorId, null);
  const { action } = await bench.submit(
    { tool: 'crm.update', mode: 'proxy', ...call },
    bench.handler(starter),
    metadata,
  );
  expect(starter.accepted).toEqual([]);
  return action;
};

const report = (id: ActionId, result: EdgeResult = { body: '{"done":true}' }): Promise<void> => {
  const metadata = bench.metadata();
  const at = metadata.now;
  const told = { status: 'succeeded', started_at: at, finished_at: at, error_code: null, error_message: null } as const;
  const command = new ReportEdgeResult(id, told, result, metadata);
  return new ReportEdgeResultHandler(bench.gate, bench.bus).execute(command);
};

const read = async (id: ActionId): Promise<LivingAction> => (await bench.action(id)) as LivingAction;
const typesOf = async (id: ActionId) => (await bench.store.readStream(streamOf('action', id))).map(({ type }) => type);

describe('a call in proxy mode', () => {
  it('is submitted, decided and authorized in one append, to be reported by the deadline of the settings', async () => {
    const now = timestampOf(bench.clock.nowMs());
    const id = await authorize({}, bench.metadata(now));
    expect(await typesOf(id)).toEqual(['ActionSubmitted', 'ActionDecided', 'EdgeAuthorized']);
    const { submission, edge } = await read(id);
    expect(edge).toEqual({ deadline: timestampOf(Date.parse(now) + TIMEOUT_MS) });
    // A registered tool is resolved as in gateway mode.
    expect(submission).toMatchObject({
      mode: 'proxy',
      side_effect: 'write',
      connector: expect.stringMatching(/^con_/),
    });
    expect(submission.tool_digest).not.toBeNull();
  });

  it('answers its key with the same deadline, however late it is asked (CP-33)', async () => {
    const id = await authorize({ idempotencyKey: 'k' });
    const { edge } = await read(id);
    bench.clock.jumpMs = TIMEOUT_MS / 2;
    expect(await authorize({ idempotencyKey: 'k' })).toBe(id);
    expect((await read(id)).edge).toEqual(edge);
  });

  it('is another request than the same call in gateway mode', async () => {
    await authorize({ idempotencyKey: 'k' });
    await expect(authorize({ idempotencyKey: 'k', mode: 'gateway' })).rejects.toThrow(
      expect.objectContaining({ code: 'idempotency_conflict' }),
    );
  });

  it('is refused like any other: by the policy, by a Stop, and if no connector provides the tool', async () => {
    const refused = async (call: Parameters<typeof authorize>[0]) => (await read(await authorize(call))).decision?.code;
    expect(await refused({ tool: 'crm.absent' })).toBe('tool_unknown');
    expect(await refused({ tool: 'files.read', connectorType: 'mcp' })).toBe('policy_denied');
    await bench.commands.execute(new StopOrganization(bench.org, null, bench.metadata()));
    expect(await refused({})).toBe('org_stopped');
  });
});

describe('a tool that only the agent knows (connector_type mcp)', () => {
  beforeEach(() => bench.enforce(MCP));

  it('is judged by the policy without a connector: no digest, no facts, any effect', async () => {
    const id = await authorize({ tool: 'files.read', connectorType: 'mcp' });
    const { submission, edge } = await read(id);
    expect(submission).toMatchObject({ connector: null, tool_digest: null, side_effect: 'unknown' });
    expect(edge).not.toBeNull();
    const input = await bench.payloads.get(id, 'policy_input', submission.input_digest);
    expect(JSON.parse(input ?? '')).toMatchObject({ request: {}, side_effect: 'unknown', mode: 'proxy' });
  });

  it('reads no connector of that name, even if there is one', async () => {
    await bench.setConnector('disabled');
    const { submission, edge } = await read(await authorize({ tool: 'crm.update', connectorType: 'mcp' }));
    expect([submission.connector, edge]).toEqual([null, expect.anything()]);
    expect((await read(await authorize({ tool: 'crm.update' }))).decision?.code).toBe('tool_unknown');
  });

  it('is unknown if its name is malformed', async () =>
    expect((await read(await authorize({ tool: 'files', connectorType: 'mcp' }))).decision?.code).toBe('tool_unknown'));
});

describe('what an edge reports', () => {
  it('is kept beside the log, and named by the event', async () => {
    const id = await authorize();
    await report(id, { body: '{"done":true}' });
    const { outcome, witness } = await read(id);
    expect(witness).toMatchObject({ method: 'edge_reported', verdict: 'VERIFIED' });
    expect(await bench.payloads.get(id, 'result', outcome!.result_digest!)).toBe('{"done":true}');
  });

  it('is only a digest if the edge keeps the result', async () => {
    const id = await authorize();
    const digest = digestOf('what the edge keeps');
    await report(id, { digest });
    expect((await read(id)).outcome?.result_digest).toBe(digest);
    expect(await bench.payloads.get(id, 'result', digest)).toBeNull();
  });

  it('is refused a second time, and after the deadline', async () => {
    const [once, late] = [await authorize(), await authorize()];
    await report(once);
    const conflict = expect.objectContaining({ code: 'conflict' });
    await expect(report(once)).rejects.toThrow(conflict);
    bench.clock.jumpMs = TIMEOUT_MS;
    await expect(report(late)).rejects.toThrow(conflict);
  });
});

describe('the sweep of what is due', () => {
  it('gives up a call that was not reported by its deadline, and no other', async () => {
    const [silent, told] = [await authorize(), await authorize()];
    await report(told);
    bench.clock.jumpMs = TIMEOUT_MS - 1_000;
    expect(await sweeper.sweep()).toEqual({ due: 0, ended: 0 });
    bench.clock.jumpMs = TIMEOUT_MS;
    const young = await authorize();
    expect(await sweeper.sweep()).toEqual({ due: 1, ended: 1 });
    expect(await read(silent)).toMatchObject({
      state: 'recorded',
      outcome: { status: 'unknown', error_code: 'timeout' },
      witness: { verdict: 'UNVERIFIABLE', reasons: ['edge_lost'] },
    });
    expect((await read(young)).state).toBe('executing');
    expect(await sweeper.sweep()).toEqual({ due: 0, ended: 0 });
  });

  it('ends each once, however many sweepers there are', async () => {
    const ids = await Promise.all(Array.from({ length: 150 }, () => authorize()));
    bench.clock.jumpMs = TIMEOUT_MS;
    const sweeps = await Promise.all([sweeperOf(), sweeperOf(), sweeperOf()].map((each) => each.sweep()));
    expect(sweeps.reduce((sum, { ended }) => sum + ended, 0)).toBe(150);
    for (const id of ids) {
      expect((await typesOf(id)).filter((type) => type === 'EdgeLost')).toHaveLength(1);
      expect((await typesOf(id)).slice(-2)).toEqual(['EdgeLost', 'ActionWitnessed']);
    }
  });

  it('does no harm if the clock goes back again', async () => {
    const id = await authorize();
    bench.clock.jumpMs = TIMEOUT_MS;
    await sweeper.sweep();
    bench.clock.jumpMs = 0;
    await sweeper.sweep();
    await expect(report(id)).rejects.toThrow(expect.objectContaining({ code: 'conflict' }));
    expect((await typesOf(id)).filter((type) => type === 'EdgeLost')).toHaveLength(1);
  });

  it('logs an unreadable action once, and does not hold up the others', async () => {
    const [unreadable, silent] = [await authorize(), await authorize()];
    const stream = streamOf('action', unreadable);
    const id = '00000000-0000-8000-8000-000000000001';
    const event = { id, type: 'ActionProposed', data: '{}', metadata: JSON.stringify({ org: bench.org, schema: 1 }) };
    await bench.store.append({ stream, expectedRevision: 2, events: [event] });
    bench.clock.jumpMs = TIMEOUT_MS;
    const due = [unreadable, silent].map((action) => ({ action, kind: 'edge' as const, dueAt: '' }));
    const listed = { dueBy: () => Promise.resolve(due) };
    const over = new DueActionSweeper(bench.gate, listed, bench.bus, logger);
    expect(await over.sweep()).toMatchObject({ ended: 1 });
    await over.sweep();
    expect((await read(silent)).state).toBe('recorded');
    expect(logger.errors).toHaveLength(1);
    expect(String(logger.errors[0])).toContain(unreadable);
  });
});
