import { afterEach, describe, expect, it, vi } from 'vitest';
import { digestOf, type JsonObject } from '#libs/crypto';
import {
  type CallOutcome,
  type ConnectorCall,
  ConnectorDriver,
  failedOutcome,
  type LiveConnector,
  type LoggedTransaction,
  type LostCall,
  type RequestFacts,
  type StatementSaid,
  type ToolDescription,
} from '#libs/domain/connectors';
import {
  type Action,
  ChangeLogWitness,
  DueActionSweeper,
  dueActionChange,
  type LivingAction,
  type WhySilent,
} from '#libs/domain/gate';
import { type ActionId, decodeEvent, streamOf } from '#libs/domain/kernel';
import { ManualStarter } from '../support/gate-bench.js';
import { LosingStore } from '../support/losing-store.js';
import { isRecorded, RecoveryScene, type SceneOptions } from '../support/recovery-scene.js';
import { silentLogger } from '../support/silent-logger.js';

const ORDERS = 'public.orders';
const said: StatementSaid = {
  xid: '7',
  kind: 'update',
  tables: [{ table: ORDERS, kinds: ['update'], is_partitioned: false }],
  side_effect_tables: [],
};
const updated = (rows: number) => ({ table: ORDERS, insert: 0, update: rows, delete: 0, truncate: 0 });
const committed = (rows = 1): CallOutcome => ({
  ...{ status: 'succeeded', errorCode: null, errorMessage: null, result: '{"row_count":1}', hasSent: true },
  retryAfterMs: null,
  transaction: { xid: '7', commit_lsn: '0/18', rows, counts: [updated(rows)] },
});
const logged = (rows = 1, xid = 7): LoggedTransaction => ({
  ...{ xid, commit_lsn: '0/10', end_lsn: '0/18', committed_at: '2026-10-01T12:00:00.000Z', marks: ['{}'] },
  tables: rows === 0 ? [] : [{ ...updated(rows), replica_identity: 'full' }],
  rows: Array.from({ length: rows }, (_, index) => ({
    ...{ table: ORDERS, kind: 'update' as const, columns: [{ name: 'id', type: 'int8', is_key: true }] },
    ...{ old: [{ text: String(index) }], new: [{ text: String(index) }] },
  })),
});

/** Of a database that is witnessed: says what it does, and does what the test plants. */
class PlantedDriver extends ConnectorDriver {
  override readonly type = 'rest';
  readonly lost: LostCall[] = [];
  afterLoss: CallOutcome | null = null;
  does: (call: ConnectorCall) => Promise<CallOutcome> = async (call) => {
    const refusal = await call.recordProgress(said);
    return refusal === null ? committed() : failedOutcome(refusal, 'Nothing was changed.');
  };

  constructor(
    private readonly real: ConnectorDriver,
    private readonly timeoutMs: number,
  ) {
    super();
  }
  override toolOf(connector: LiveConnector, toolName: string): ToolDescription | null {
    const tool = this.real.toolOf(connector, toolName);
    return tool && { ...tool, changeLog: { timeoutMs: this.timeoutMs } };
  }
  override toolsOf(connector: LiveConnector): readonly ToolDescription[] {
    return this.real.toolsOf(connector);
  }
  override requestFacts(connector: LiveConnector, toolName: string, args: JsonObject): RequestFacts {
    return this.real.requestFacts(connector, toolName, args);
  }
  override send(call: ConnectorCall): Promise<CallOutcome> {
    return this.does(call);
  }
  override outcomeOfLost(lost: LostCall): Promise<CallOutcome | null> {
    this.lost.push(lost);
    return Promise.resolve(this.afterLoss);
  }
}

let scene: RecoveryScene;
afterEach(async () => {
  vi.restoreAllMocks();
  await scene.close();
});

const set = async (options: SceneOptions & { readonly timeoutMs?: number } = {}): Promise<PlantedDriver> => {
  scene = await RecoveryScene.set(options);
  const { registry } = scene.bench.gate;
  const planted = new PlantedDriver(registry.driverOf('rest')!, options.timeoutMs ?? 60_000);
  vi.spyOn(registry, 'driverOf').mockReturnValue(planted);
  return planted;
};

const witness = () => new ChangeLogWitness(scene.bench.gate, scene.bench.bus, () => Promise.resolve('none'));
const submit = async () => (await scene.bench.submit({ tool: 'crm.update' })).action;
const typesIn = async (id: ActionId) =>
  (await scene.bench.store.readStream(streamOf('action', id))).slice(3).map(({ type }) => type);
const isWitnessing = (action: Action) => action.state === 'witnessing';
const waiting = (id: ActionId) => scene.bench.action(id, isWitnessing);
const recorded = async (id: ActionId) => (await scene.bench.action(id, isRecorded)) as LivingAction;

describe('a call that a change log witnesses', () => {
  it('has its statement on record before it runs, waits for the log, and is what the log shows', async () => {
    const driver = await set();
    const before: string[] = [];
    driver.does = async (call) => {
      await call.recordProgress(said);
      before.push(...(await typesIn(call.action)));
      return committed();
    };
    const id = await submit();
    await waiting(id);
    expect(before).toEqual(['ExecutionStarted', 'ExecutionProgress']);
    expect(await witness().report(id, 1, logged())).toBe('recorded');
    expect(await recorded(id)).toMatchObject({
      witness: { level: 'L2', verdict: 'VERIFIED', method: 'change_log', diff_rows: 1 },
    });
    expect(await typesIn(id)).toEqual([
      'ExecutionStarted',
      'ExecutionProgress',
      'ExecutionFinished',
      'ActionWitnessed',
    ]);
  });

  it('has the changed rows as evidence, by the digest that the deed seals', async () => {
    await set();
    const id = await submit();
    await waiting(id);
    await witness().report(id, 1, logged());
    const digest = (await recorded(id)).witness?.evidence_digest;
    const body = await scene.bench.payloads.get(id, 'observation', digest!);
    expect(digestOf(body!)).toBe(digest);
    expect(JSON.parse(body!)).toMatchObject({
      kind: 'change_log',
      action: id,
      attempt: 1,
      rows: [{ key: { id: '0' } }],
    });
  });

  it('ends with its outcome where the log was faster', async () => {
    const driver = await set();
    driver.does = async (call) => {
      await call.recordProgress(said);
      expect(await witness().report(call.action, 1, logged())).toBe('recorded');
      return committed();
    };
    const id = await submit();
    expect(await recorded(id)).toMatchObject({ witness: { level: 'L2', verdict: 'VERIFIED' } });
    expect((await typesIn(id)).slice(-3)).toEqual(['WitnessReported', 'ExecutionFinished', 'ActionWitnessed']);
  });

  it.each([
    ['reports success and changes nothing', committed(), logged(0), ['row_count']],
    ['changes two rows and reports one', committed(), logged(2), ['row_count']],
    ['commits another transaction', committed(), logged(1, 8), ['transaction_missing']],
    ['reports failure and commits', failedOutcome('upstream_error', 'Nothing was changed.'), logged(), ['row_count']],
  ])('by a driver that %s is a MISMATCH', async (_, outcome, seen, reasons) => {
    const driver = await set();
    driver.does = async (call) => {
      await call.recordProgress(said);
      return outcome;
    };
    const id = await submit();
    await scene.bench.action(id, (action) => isWitnessing(action) || isRecorded(action));
    await witness().report(id, 1, seen);
    expect(await recorded(id)).toMatchObject({ witness: { level: 'L2', verdict: 'MISMATCH', reasons } });
  });

  it('that is reported by several readers at once has one word', async () => {
    await set();
    const id = await submit();
    await waiting(id);
    const answers = await Promise.all([1, 2, 3, 4].map(() => witness().report(id, 1, logged())));
    expect(answers.sort()).toEqual(['known', 'known', 'known', 'recorded']);
    expect((await typesIn(id)).filter((type) => type === 'ActionWitnessed')).toHaveLength(1);
  });

  it('is nobody’s where the mark names an attempt that has said nothing', async () => {
    await set();
    const id = await submit();
    await waiting(id);
    expect(await witness().report(id, 2, logged())).toBe('not_ours');
    expect(await witness().report('act_00000000000000000000000099' as ActionId, 1, logged())).toBe('not_ours');
  });

  it('is missing where the log has passed its place', async () => {
    await set();
    const id = await submit();
    await waiting(id);
    expect(await witness().reportAbsence(id, 'transaction_missing')).toBe(true);
    expect(await witness().reportAbsence(id, 'transaction_missing')).toBe(false);
    expect(await recorded(id)).toMatchObject({ witness: { verdict: 'MISMATCH', reasons: ['transaction_missing'] } });
  });

  /** Sweeps until the one action that is due has ended. */
  const sweptAway = async (id: ActionId, why?: WhySilent): Promise<void> => {
    const events = await scene.bench.store.readStream(streamOf('action', id));
    const [due] = events.flatMap((event) => {
      const change = dueActionChange(decodeEvent(event).event);
      return change?.change === 'open' ? [change.due] : [];
    });
    expect(due).toMatchObject({ action: id, kind: 'witness' });
    const table = { dueBy: () => Promise.resolve([due!]) };
    const sweeper = new DueActionSweeper(scene.bench.gate, table, scene.bench.bus, silentLogger, why);
    await expect.poll(() => sweeper.sweep()).toEqual({ due: 1, ended: 1 });
  };

  it.each(['slot_lagging', 'decoder_down'] as const)('is given up as %s where its reader says so', async (reason) => {
    await set({ timeoutMs: 1 });
    const id = await submit();
    await waiting(id);
    await sweptAway(id, () => Promise.resolve(reason));
    expect(await recorded(id)).toMatchObject({ witness: { verdict: 'UNVERIFIABLE', reasons: [reason] } });
  });

  it('is given up by the sweeper when its time is over, and a late word amends that', async () => {
    await set({ timeoutMs: 1 });
    const id = await submit();
    await waiting(id);
    await sweptAway(id);
    expect(await recorded(id)).toMatchObject({ witness: { verdict: 'UNVERIFIABLE', reasons: ['timeout'] } });
    expect(await witness().report(id, 1, logged())).toBe('recorded');
    expect((await typesIn(id)).at(-1)).toBe('WitnessAmended');
    expect(await recorded(id)).toMatchObject({ witness: { verdict: 'VERIFIED' } });
  });
});

describe('progress that cannot be recorded', () => {
  it('changes nothing: the store is away', async () => {
    const store = new LosingStore();
    const driver = await set({ store });
    driver.does = async (call) => {
      store.isAwayFor = { type: 'ExecutionProgress', appends: 1 };
      const refusal = await call.recordProgress(said);
      return failedOutcome(refusal!, 'Nothing was changed.');
    };
    expect(await recorded(await submit())).toMatchObject({
      outcome: { status: 'failed', error_code: 'service_unavailable' },
      witness: null,
    });
  });

  it('changes nothing: another statement of the attempt is on record', async () => {
    const driver = await set();
    driver.does = async (call) => {
      expect(await call.recordProgress(said)).toBeNull();
      const refusal = await call.recordProgress({ ...said, xid: '8' });
      return failedOutcome(refusal!, 'Nothing was changed.');
    };
    expect(await recorded(await submit())).toMatchObject({ outcome: { error_code: 'service_unavailable' } });
  });
});

describe('a call whose executor was lost', () => {
  /** Claimed by a process that puts progress on record and is then gone. */
  const lose = async (driver: PlantedDriver): Promise<ActionId> => {
    const starter = new ManualStarter('exe_lost', null);
    const { action: id } = await scene.bench.submit({ tool: 'crm.update' }, scene.bench.handler(starter));
    driver.does = async (call) => {
      await call.recordProgress(said);
      return new Promise(() => undefined);
    };
    void scene.executorNamed('exe_lost').run(starter.accepted[0]!);
    await expect.poll(() => typesIn(id)).toContain('ExecutionProgress');
    return id;
  };
  const isOver = (action: Action) => isWitnessing(action) || isRecorded(action);
  const lostRows = { ...committed().transaction!, rows: null, counts: null };

  it.each([
    ['committed', { ...committed(), result: null, transaction: lostRows }, 'succeeded'],
    ['aborted', failedOutcome('upstream_error', 'Nothing was changed.'), 'failed'],
    ['what nobody knows', null, 'unknown'],
  ])('ends as the database says: %s', async (_, afterLoss, status) => {
    const driver = await set();
    driver.afterLoss = afterLoss;
    const id = await lose(driver);
    expect(await scene.sweepUntil(isOver, id)).toMatchObject({ outcome: { status } });
    expect(driver.lost).toMatchObject([{ action: id, toolName: 'update', said }]);
    expect((await typesIn(id)).filter((type) => type === 'ExecutionFinished')).toHaveLength(1);
  });

  it('has failed without a question where it has put nothing on record', async () => {
    const driver = await set();
    const id = await scene.lose('crm.update');
    expect(await scene.sweepUntil(isOver, id)).toMatchObject({ outcome: { status: 'failed' }, witness: null });
    expect(driver.lost).toEqual([]);
  });

  it('can put nothing on record once it was ended', async () => {
    const driver = await set();
    const starter = new ManualStarter('exe_lost', null);
    const { action: id } = await scene.bench.submit({ tool: 'crm.update' }, scene.bench.handler(starter));
    await scene.sweepUntil(isOver, id);
    const refusals: unknown[] = [];
    driver.does = async (call) => {
      refusals.push(await call.recordProgress(said));
      return failedOutcome('service_unavailable', 'Nothing was changed.');
    };
    await scene.executorNamed('exe_lost').run(starter.accepted[0]!);
    expect(refusals).toEqual(['service_unavailable']);
    expect(await typesIn(id)).not.toContain('ExecutionProgress');
  });
});
