import type { Failpoint } from '#libs/domain/kernel';
import type { Victim } from './chaos-target.js';
import { POINTS_OF_CALLS } from './failpoint-endings.js';
import { chanceOf, type Chance } from './random.js';

/** What the service stands on, and is killed without its doing: it is started again at once. */
export const STORES = ['database', 'event_store', 'redis'] as const;
export type Store = (typeof STORES)[number];

/** What ends a process in a round, and when. */
export type Kill =
  /** At any time after the calls were sent. */
  | { readonly kind: 'moment'; readonly afterMs: number }
  /** While a write stands at the upstream: its effect has happened, its outcome is lost. */
  | { readonly kind: 'execution' }
  /** By its own hand, at the n-th hit of a failpoint. */
  | { readonly kind: 'failpoint'; readonly point: Failpoint; readonly atHit: number }
  /** Not the service: what it stands on. */
  | { readonly kind: Store; readonly afterMs: number };

export interface RoundPlan {
  readonly kill: Kill;
  /** Whom a hand kills where several processes run; absent where there is one. */
  readonly victim?: Victim;
  /** Errors and delays beside the kill, as SERVICE_POINTS_OF_CALLS takes them. */
  readonly orders: readonly string[];
}

const LONGEST_MOMENT_MS = 300;
const LONGEST_DELAY_MS = 1_500;
/** Of each that there is. */
const STORE_SHARE = 0.12;
const EXECUTION_SHARE = 0.18;
const FAILPOINT_SHARE = 0.45;
/** Points that a round hits once or twice. */
const RARE: ReadonlySet<Failpoint> = new Set([
  'proxy.authorized',
  'exec.t3',
  'exec.t3.ack',
  'exec.retry',
  'exec.read_back',
  'exec.t5',
  'exec.t5.ack',
]);

export interface PlannedFor {
  readonly stores: readonly Store[];
  /** How many of each program; absent: one process. */
  readonly processesEach?: number;
}

/** Of a seed. Every failpoint in turn, in an order of the seed's own, so that a long run kills at each of them. */
export const plansOf = (
  seed: number,
  kills: number,
  { stores, processesEach }: PlannedFor = { stores: ['database'] },
): readonly RoundPlan[] => {
  const chance = chanceOf(seed);
  let due: Failpoint[] = [];
  const nextPoint = (): Failpoint => {
    if (due.length === 0) due = shuffled(POINTS_OF_CALLS, chance);
    return due.pop() as Failpoint;
  };
  return Array.from({ length: kills }, () => {
    const kill = killOf(chance, stores, nextPoint);
    const orders = sideOrders(chance);
    return processesEach === undefined
      ? { kill, orders }
      : { kill, orders, victim: victimOf(chance, kill, processesEach) };
  });
};

const killOf = (chance: Chance, stores: readonly Store[], nextPoint: () => Failpoint): Kill => {
  const share = chance.next();
  const store = stores[Math.floor(share / STORE_SHARE)];
  if (store !== undefined) return { kind: store, afterMs: chance.between(0, LONGEST_MOMENT_MS) };
  // What the stores leave is divided among the others as it is beside one store.
  const stored = stores.length * STORE_SHARE;
  const left = ((share - stored) * (1 - STORE_SHARE)) / (1 - stored);
  if (left < EXECUTION_SHARE) return { kind: 'execution' };
  if (left >= EXECUTION_SHARE + FAILPOINT_SHARE)
    return { kind: 'moment', afterMs: chance.between(0, LONGEST_MOMENT_MS) };
  const point = nextPoint();
  return { kind: 'failpoint', point, atHit: RARE.has(point) ? 1 : chance.between(1, 4) };
};

const BOTH_SHARE = 0.4;

/** Executions are a worker's. Workers and projectors also all at once: nobody is left to take over before a start. */
const victimOf = (chance: Chance, kill: Kill, processesEach: number): Victim => {
  const program = kill.kind === 'execution' ? 'worker' : chance.oneOf(['api', 'worker', 'projector'] as const);
  const which = chance.between(0, processesEach - 1);
  return { program, which: program !== 'api' && chance.next() < BOTH_SHARE ? 'all' : which };
};

const sideOrders = (chance: Chance): readonly string[] => {
  if (chance.next() < 0.5) return [];
  const point = chance.oneOf(POINTS_OF_CALLS);
  const action = chance.next() < 0.5 ? 'error' : `delay:${chance.between(1, LONGEST_DELAY_MS)}`;
  return [`${point}=${action}@${chance.between(1, 3)}`];
};

const shuffled = <Item>(items: readonly Item[], chance: Chance): Item[] => {
  const rest = [...items];
  const order: Item[] = [];
  while (rest.length > 0) order.push(...rest.splice(chance.between(0, rest.length - 1), 1));
  return order;
};

const STORE_NAMES: Readonly<Record<Store, string>> = {
  database: 'PostgreSQL',
  event_store: 'the event store',
  redis: 'Redis',
};

export const isOfStore = (kill: Kill): kill is Extract<Kill, { kind: Store }> =>
  STORES.some((store) => store === kill.kind);

const victimText = ({ program, which }: Victim): string => `${which === 'all' ? 'every' : 'one'} ${program}`;

/** In a few words, for the progress of a run. */
export const planText = ({ kill, victim }: RoundPlan): string => {
  if (isOfStore(kill)) return `of ${STORE_NAMES[kill.kind]}`;
  if (kill.kind === 'failpoint') return `at ${kill.point}`;
  const whom = victim === undefined ? '' : `of ${victimText(victim)} `;
  return `${whom}${kill.kind === 'moment' ? 'at random' : 'under an execution'}`;
};

/** As what a run counts it. Under an `execution` whoever executes is killed for certain. */
export const countedAs = ({ kill, victim }: RoundPlan): string => {
  if (victim === undefined || isOfStore(kill) || kill.kind === 'failpoint') return kill.kind;
  if (kill.kind === 'moment') return `moment of ${victimText(victim)}`;
  return victim.which === 'all' ? kill.kind : 'execution of one worker';
};
