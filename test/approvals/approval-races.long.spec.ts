import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  approvalOf,
  CancelAction,
  CancelActionHandler,
  DueActionSweeper,
  GateKernel,
  type ApprovalStatus,
  type LivingAction,
} from '#libs/domain/gate';
import {
  Clock,
  CommandRunner,
  DomainError,
  FoldedStreams,
  streamOf,
  timestampOf,
  type ActionId,
  type EventStore,
} from '#libs/domain/kernel';
import { KurrentEventStore, PostgresEventStore } from '#libs/infra/event-store';
import { ApprovalScene, type Member } from '../support/approval-scene.js';
import { createTestDatabase } from '../support/database.js';
import { GateBench, ManualStarter } from '../support/gate-bench.js';
import { KURRENT_UNDER_TEST, startKurrent } from '../support/kurrent-under-test.js';
import { profileOf } from '../support/log-profile.js';
import { silentLogger } from '../support/silent-logger.js';

/**
 * How many races of four contenders run on PostgreSQL. The other store, whose test server is slower, runs a quarter.
 * APPROVAL_RACES=10000 tries more often.
 */
const ROUNDS = Number(process.env['APPROVAL_RACES'] ?? 600);
/** How often the other races run, which have two contenders. */
const PAIRS = ROUNDS / 40;
/** How many races run at a time, each with processes of its own; all of them share one log. */
const LANES = 8;
const TOOLS = [{ name: 'update', method: 'POST', path: '/v1/customers', args: {} }];
const ENDS = ['approved', 'denied', 'expired', 'cancelled'] as const satisfies readonly ApprovalStatus[];
/** The error codes that a loser may get. */
const REFUSALS = ['approval_decided', 'approval_expired', 'conflict'];
const ENDINGS = ['ApprovalDecided', 'ApprovalExpired', 'ActionCancelled'];

class ManualClock extends Clock {
  ms = 0;
  override nowMs = (): number => this.ms;
  override monotonicMs = (): number => this.ms;
}

/** A process of its own, which shares only the log with the others. */
class Instance {
  readonly clock = new ManualClock();
  readonly gate: GateKernel;
  readonly scene: ApprovalScene;
  readonly cancelling: CancelActionHandler;

  constructor(
    store: EventStore,
    readonly bench: GateBench,
  ) {
    const { registry, randomness, settings, people } = bench.gate;
    const { clock } = this;
    const streams = new FoldedStreams(store);
    const runner = new CommandRunner(store, streams);
    const { backlog } = bench;
    const { appends } = profileOf(store, (payload) => bench.payloads.put(payload));
    this.gate = new GateKernel({
      store,
      appends,
      streams,
      runner,
      registry,
      clock,
      randomness,
      settings,
      people,
      backlog,
    });
    this.scene = new ApprovalScene(bench, new ManualStarter(null, null), this.gate);
    this.cancelling = new CancelActionHandler(this.gate, bench.bus);
  }

  sweep(action: ActionId, dueAtMs: number): Promise<unknown> {
    const due = [{ action, kind: 'approval' as const, dueAt: timestampOf(dueAtMs) }];
    return new DueActionSweeper(this.gate, { dueBy: () => Promise.resolve(due) }, this.bench.bus, silentLogger).sweep();
  }
}

const HEAD_STARTS = 4;

/** Delays a contender by up to `HEAD_STARTS` reads of the log, so that the first one has a head start. */
const headStart = async (round: number): Promise<void> => {
  const questions = Math.floor(round / 4) % HEAD_STARTS;
  for (let question = 0; question < questions; question += 1) await log.stores[2]?.head();
};

/** One log, with a connection of its own for each process. */
interface Log {
  readonly stores: readonly EventStore[];
  close(): Promise<void>;
}

const onPostgres = async (): Promise<Log> => {
  const database = await createTestDatabase();
  const { connectionString } = database;
  const common = { connectionString, applicationName: 'ags tests', onConnectionLost: () => undefined };
  const stores = [1, 2, 3].map(() => new PostgresEventStore(common));
  const close = async (): Promise<void> => {
    await Promise.all(stores.map((store) => store.close()));
    await database.drop();
  };
  return { stores, close };
};

const onKurrent = async (): Promise<Log> => {
  const server = await startKurrent();
  const stores = [1, 2, 3].map(() => new KurrentEventStore({ url: server.url, deadlineMs: 30_000 }));
  const close = async (): Promise<void> => {
    await Promise.all(stores.map((store) => store.close()));
    await server.close();
  };
  return { stores, close };
};

let log: Log;
let bench: GateBench;
/** Each lane has three processes. */
let lanes: readonly (readonly Instance[])[];
let members: readonly Member[];

const setUp = async (open: () => Promise<Log>): Promise<void> => {
  log = await open();
  bench = await new GateBench(log.stores[0]!).prepare('http://127.0.0.1:9', TOOLS);
  lanes = Array.from({ length: LANES }, () => log.stores.map((store) => new Instance(store, bench)));
  const scene = new ApprovalScene(bench);
  members = [await scene.member('admin'), await scene.member('owner')];
  await scene.enforce();
};

const held = async (): Promise<{ readonly id: ActionId; readonly expiresAtMs: number }> => {
  const { action: id } = await bench.submit({ tool: 'crm.update' }, bench.handler(new ManualStarter(null, null)));
  const { approval } = (await bench.action(id)) as LivingAction;
  return { id, expiresAtMs: Date.parse(approval!.terms.expires_at) };
};

/** Whether the command succeeded. A loser must get one of the codes in `REFUSALS`. */
const isDone = (said: Promise<unknown>): Promise<boolean> =>
  said.then(
    () => true,
    (error: unknown) => {
      if (error instanceof DomainError && REFUSALS.includes(error.code)) return false;
      throw error;
    },
  );

/**
 * One race of four contenders: checks the action's end.
 * @returns the status that won
 */
const race = async (round: number, [one, two, three]: readonly [Instance, Instance, Instance]): Promise<string> => {
  const [anna, ben] = members as [Member, Member];
  const { id, expiresAtMs } = await held();
  const contextDigest = (await one.scene.review(id)).digest;
  // Decisions are dated a millisecond before the approval expires, or exactly then.
  const saidAt = timestampOf(expiresAtMs - 1 + (round % 8 === 0 ? 1 : 0));
  three.clock.ms = expiresAtMs + (round % 2);
  const by = (user: Member['user']) => ({ ...bench.metadata(saidAt), actor: { type: 'user' as const, id: user } });
  const contenders = [
    () => one.scene.approve(id, anna, { contextDigest, metadata: by(anna.user) }),
    () => two.scene.deny(id, ben, { metadata: by(ben.user) }),
    () => three.sweep(id, expiresAtMs),
    () => two.cancelling.execute(new CancelAction(id, bench.metadata(saidAt))),
  ];
  // The contender that begins has the better chance, so they take turns.
  const turn = round % contenders.length;
  const order = [...contenders.slice(turn), ...contenders.slice(0, turn)];
  await Promise.all(
    order.map(async (contend, place) => {
      if (place > 0) await headStart(round);
      return isDone(contend());
    }),
  );
  const events = (await log.stores[0]!.readStream(streamOf('action', id))).map(({ type }) => type);
  expect(events.filter((type) => ENDINGS.includes(type))).toHaveLength(1);
  const { approval, ready } = (await bench.action(id)) as LivingAction;
  const status = approval?.status ?? '';
  expect(ENDS).toContain(status);
  // The action runs only if it was approved, and nobody can decide after it has expired.
  expect(ready !== null).toBe(status === 'approved');
  if (saidAt >= timestampOf(expiresAtMs)) expect(status).toBe('expired');
  return status;
};

/** PostgreSQL checks in the commit what a decision was judged by; the other store is asked right before the append. */
const LOGS = [
  ['PostgreSQL', onPostgres, ROUNDS],
  [KURRENT_UNDER_TEST, onKurrent, ROUNDS / 4],
] as const;

describe.each(LOGS)('on %s, three processes at one moment', (_store, open, rounds) => {
  beforeAll(() => setUp(open));
  afterAll(async () => {
    bench?.close();
    await log?.close();
  });

  it(`yes, no, expiry and cancellation: one of them is the end, the others are refused, ${rounds} times (rule GATE-7, INV-13)`, async () => {
    const wins = new Map<string, number>();
    let round = 0;
    await Promise.all(
      lanes.map(async (instances) => {
        while (round < rounds) {
          const status = await race((round += 1), instances as [Instance, Instance, Instance]);
          wins.set(status, (wins.get(status) ?? 0) + 1);
        }
      }),
    );
    // Each end has won some races.
    expect([...wins.keys()].sort()).toEqual([...ENDS].sort());
  }, 1_800_000);

  it(`two that sign a four-eyes approval at one moment are two, ${PAIRS} times`, async () => {
    await new ApprovalScene(bench).enforce('required: 2');
    const [one, two] = lanes[0] as [Instance, Instance];
    const [anna, ben] = members as [Member, Member];
    for (let round = 0; round < PAIRS; round += 1) {
      const { id } = await held();
      const contextDigest = (await one.scene.review(id)).digest;
      await Promise.all([
        one.scene.approve(id, anna, { contextDigest }),
        two.scene.approve(id, ben, { contextDigest }),
      ]);
      const { approval } = (await bench.action(id)) as LivingAction;
      expect(approval).toMatchObject({ status: 'approved', signatures: [{}, {}] });
      expect(new Set(approval?.counted)).toEqual(new Set([anna.user, ben.user]));
      expect(approval?.terms.approval).toBe(approvalOf(id));
    }
  }, 900_000);

  it(`an approval by a person who is demoted at that moment holds or is refused, ${PAIRS} times`, async () => {
    await new ApprovalScene(bench).enforce();
    const [one] = lanes[0] as [Instance];
    for (let round = 0; round < PAIRS; round += 1) {
      const cara = await new ApprovalScene(bench).member('admin');
      const { id } = await held();
      const contextDigest = (await one.scene.review(id)).digest;
      const demoted = new ApprovalScene(bench).organization({
        type: 'ChangeMemberRole',
        data: { membership: cara.membership, role: 'viewer' },
      });
      const approved = one.scene.approve(id, cara, { contextDigest }).then(
        () => 'approved',
        (error: DomainError) => error.code,
      );
      const [, said] = await Promise.all([demoted, approved]);
      const { approval } = (await bench.action(id)) as LivingAction;
      expect([said, approval?.status]).toEqual(
        said === 'approved' ? ['approved', 'approved'] : ['approver_not_eligible', 'pending'],
      );
      await new ApprovalScene(bench).organization({ type: 'RemoveMember', data: { membership: cara.membership } });
      // An undecided call would keep its place, and an agent may have only a hundred waiting calls.
      if (approval?.status === 'pending') await one.cancelling.execute(new CancelAction(id, bench.metadata()));
    }
  }, 900_000);
});
