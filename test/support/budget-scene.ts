import type { JsonObject } from '#libs/crypto';
import type { CallCost, LiveConnector } from '#libs/domain/connectors';
import {
  type Action,
  type ActionRequest,
  type BudgetReservations,
  type LivingAction,
  ReservationSweeper,
  type SubmitAction,
  type SubmittedAction,
} from '#libs/domain/gate';
import type { ActionId, CommandMetadata, Subscription } from '#libs/domain/kernel';
import { BudgetTables } from './budget-rows.js';
import { GateBench, ManualStarter } from './gate-bench.js';
import { silentLogger } from './silent-logger.js';

const NUMBER = { in: 'body', type: 'integer' };

/** A call of it costs what its arguments say: foreseen `amount`, in the end `spent`. */
const TOOLS: readonly JsonObject[] = [
  {
    name: 'pay',
    method: 'POST',
    path: '/v1/payments',
    args: { amount: NUMBER, spent: NUMBER, currency: { in: 'body', type: 'string' } },
  },
];

/** Of a policy that allows everything, or asks people about it, with budgets. @param budgets lines below `budgets:` */
export const policyWith = (budgets: readonly string[], decision = 'allow'): string =>
  `version: 1\ndefault: ${decision}\nbudgets:\n${budgets.map((line) => `  ${line}\n`).join('')}`;

export const CALLS_A_DAY = (calls: number): readonly string[] => [
  '- id: daily',
  '  period: day',
  `  max_calls: ${calls}`,
];
export const EUR_A_DAY = (amount: number): readonly string[] => [
  '- id: money',
  '  period: day',
  '  max_spend:',
  `    amount: ${amount}`,
  '    currency: eur',
];

/** A gate whose budgets are rows of PostgreSQL, settled from its log as a worker does. */
export class BudgetScene {
  private following: Subscription | null = null;
  private readonly benches: GateBench[] = [];

  private constructor(readonly tables: BudgetTables) {}

  static async open(): Promise<BudgetScene> {
    const scene = new BudgetScene(await BudgetTables.open());
    await scene.tables.store.storeId();
    await scene.follow();
    return scene;
  }

  /** Waits for calls that no test waited for: one that met a closed store would fail whatever spec runs then. */
  async close(): Promise<void> {
    await Promise.all(this.benches.map(({ executor }) => executor.idle()));
    await this.following?.close();
    await this.tables.close();
  }

  /** Begins where the checkpoint is, as a worker that takes the lease. */
  async follow(): Promise<void> {
    await this.following?.close();
    this.following = await this.tables.rows.follow(this.tables.pool, () => undefined);
  }

  async stopFollowing(): Promise<void> {
    await this.following?.close();
    this.following = null;
  }

  /** Until the rows hold all that the log says. */
  async settle(): Promise<void> {
    if (!(await this.tables.rows.reach(await this.tables.store.head(), 20_000))) throw new Error('nobody settles');
  }

  /** An organization of its own, in a process of its own. */
  async bench(upstreamUrl: string, budgets: BudgetReservations = this.tables.process(10_000)): Promise<GateBench> {
    const bench = await new GateBench(this.tables.store, {}, undefined, budgets).prepare(upstreamUrl, TOOLS);
    price(bench);
    this.benches.push(bench);
    return bench;
  }

  sweeperOf(bench: GateBench): ReservationSweeper {
    return new ReservationSweeper(bench.gate, this.tables.rows, silentLogger);
  }
}

/** What a connector type that knows its prices will do. */
const price = (bench: GateBench): void => {
  const driver = bench.gate.registry.driverOf('rest');
  if (!driver) throw new Error('there is no REST driver');
  const costIn = (args: JsonObject, member: 'amount' | 'spent'): { cost?: CallCost } => {
    const currency = typeof args['currency'] === 'string' ? args['currency'] : 'eur';
    const amount = args[member];
    return typeof amount === 'number' ? { cost: { amount, currency } } : {};
  };
  const [factsOf, send] = [driver.requestFacts.bind(driver), driver.send.bind(driver)];
  Object.assign(driver, {
    requestFacts: (connector: LiveConnector, tool: string, args: JsonObject) => ({
      ...factsOf(connector, tool, args),
      ...costIn(args, 'amount'),
    }),
    send: async (call: Parameters<typeof send>[0]) => ({ ...(await send(call)), ...costIn(call.args, 'spent') }),
  });
};

interface Pay extends Partial<ActionRequest> {
  readonly since?: SubmitAction['since'];
  readonly metadata?: CommandMetadata;
  /** Whether it is sent; otherwise it is left to lie. Default: it is. */
  readonly isRun?: boolean;
}

/** A call of the priced tool. */
export const pay = (
  bench: GateBench,
  args: JsonObject = {},
  { since, metadata, isRun = true, ...request }: Pay = {},
) => {
  const handler = bench.handler(isRun ? bench.runningStarter() : new ManualStarter(bench.executorId, null));
  return bench.submit({ tool: 'crm.pay', args, ...request }, handler, metadata ?? bench.metadata(), since);
};

const isOver = ({ state }: Action): boolean => state === 'recorded';

export const ended = async (bench: GateBench, { action }: SubmittedAction): Promise<LivingAction> =>
  (await bench.action(action, isOver)) as LivingAction;

export const recordedAs = async (bench: GateBench, id: ActionId): Promise<LivingAction> =>
  (await bench.action(id, ({ state }) => state !== 'none')) as LivingAction;
