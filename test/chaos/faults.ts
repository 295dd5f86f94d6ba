import { FAILPOINTS, type Failpoint } from '#libs/domain/kernel';
import { chanceOf, type Chance } from './random.js';

/** What ends a process in a round, and when. */
export type Kill =
  /** At any time after the calls were sent. */
  | { readonly kind: 'moment'; readonly afterMs: number }
  /** While a write stands at the upstream: its effect has happened, its outcome is lost. */
  | { readonly kind: 'execution' }
  /** By its own hand, at the n-th hit of a failpoint. */
  | { readonly kind: 'failpoint'; readonly point: Failpoint; readonly atHit: number }
  /** Not the service: its PostgreSQL, which it then starts again. */
  | { readonly kind: 'database'; readonly afterMs: number };

export interface RoundPlan {
  readonly kill: Kill;
  /** Errors and delays beside the kill, as SERVICE_FAILPOINTS takes them. */
  readonly orders: readonly string[];
}

const LONGEST_MOMENT_MS = 300;
const LONGEST_DELAY_MS = 1_500;
const DATABASE_SHARE = 0.12;
const EXECUTION_SHARE = 0.3;
const FAILPOINT_SHARE = 0.75;
/** Points that a round hits once at most. */
const RARE: ReadonlySet<Failpoint> = new Set(['exec.retry', 'exec.t3', 'exec.t3.ack']);

/** Of a seed. Every failpoint in turn, in an order of the seed's own, so that a long run kills at each of them. */
export const plansOf = (seed: number, kills: number): readonly RoundPlan[] => {
  const chance = chanceOf(seed);
  let due: Failpoint[] = [];
  const nextPoint = (): Failpoint => {
    if (due.length === 0) due = shuffled(FAILPOINTS, chance);
    return due.pop() as Failpoint;
  };
  return Array.from({ length: kills }, () => ({ kill: killOf(chance, nextPoint), orders: sideOrders(chance) }));
};

const killOf = (chance: Chance, nextPoint: () => Failpoint): Kill => {
  const share = chance.next();
  if (share < DATABASE_SHARE) return { kind: 'database', afterMs: chance.between(0, LONGEST_MOMENT_MS) };
  if (share < EXECUTION_SHARE) return { kind: 'execution' };
  if (share >= FAILPOINT_SHARE) return { kind: 'moment', afterMs: chance.between(0, LONGEST_MOMENT_MS) };
  const point = nextPoint();
  return { kind: 'failpoint', point, atHit: RARE.has(point) ? 1 : chance.between(1, 4) };
};

const sideOrders = (chance: Chance): readonly string[] => {
  if (chance.next() < 0.5) return [];
  const point = chance.oneOf(FAILPOINTS);
  const action = chance.next() < 0.5 ? 'error' : `delay:${chance.between(1, LONGEST_DELAY_MS)}`;
  return [`${point}=${action}@${chance.between(1, 3)}`];
};

const shuffled = <Item>(items: readonly Item[], chance: Chance): Item[] => {
  const rest = [...items];
  const order: Item[] = [];
  while (rest.length > 0) order.push(...rest.splice(chance.between(0, rest.length - 1), 1));
  return order;
};

/** In a few words, for the progress of a run. */
export const killText = (kill: Kill): string => {
  if (kill.kind === 'failpoint') return `at ${kill.point}`;
  return { moment: 'at random', execution: 'under an execution', database: 'of PostgreSQL' }[kill.kind];
};
