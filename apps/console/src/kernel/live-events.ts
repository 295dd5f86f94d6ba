import type { Schemas } from './client.ts';
import { ACTION_STATE_VALUES, APPROVAL_STATUS_VALUES, EVENT_TYPE_VALUES } from './contract.ts';

/** The parts of an event of the stream (docs/events.md) that the Console reads. */
export interface LiveEvent {
  readonly id: string;
  readonly type: string;
  readonly org: string;
  readonly hydrated: boolean;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Types that the API reserves and the service does not send yet. */
type NotYet = Extract<Schemas['EventType'], `${'anomaly' | 'suggestion'}.${string}`>;

/** The types that the service sends. A test is sent to its own webhook alone. */
export type ToldType = Exclude<Schemas['EventType'], 'webhook.test' | NotYet>;

const isTold = (type: Schemas['EventType']): type is ToldType =>
  type !== 'webhook.test' && !/^(?:anomaly|suggestion)\./.test(type);

/** All event types that the Console listens to: an EventSource does not deliver events of a type without a listener. */
export const EVENT_TYPES: readonly ToldType[] = EVENT_TYPE_VALUES.filter(isTold);

/** Parses an event; null if the text is not one. */
export const readEvent = (text: string): LiveEvent | null => {
  const parsed = parse(text) as Partial<LiveEvent> & { readonly data?: { readonly object?: unknown } };
  const { id, type, org, hydrated, data } = parsed;
  if (typeof id !== 'string' || typeof type !== 'string' || typeof org !== 'string') return null;
  const object = data?.object;
  if (typeof object !== 'object' || object === null) return null;
  return { id, type, org, hydrated: hydrated === true, object: object as LiveEvent['object'] };
};

const parse = (text: string): object => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
};

const STATES: readonly string[] = ACTION_STATE_VALUES;
const STATUSES: readonly string[] = APPROVAL_STATUS_VALUES;

/**
 * How far an object has come, as a number that only rises. Used to ignore older states: an event and the read of a list
 * may arrive in either order.
 */
export const stageOf = (object: Readonly<Record<string, unknown>>): number => {
  if (object['object'] === 'action') return STATES.indexOf(String(object['state']));
  if (object['object'] === 'approval') {
    const status = Math.min(1, STATUSES.indexOf(String(object['status'])));
    const signed = Number(object['countersigned'] ?? 0);
    return status * 1_000 + signed;
  }
  return 0;
};

const REMEMBERED_IDS = 2_048;
const GATHER_MS = 250;

/**
 * Collects events for 250 ms and passes on each only once: when another tab takes the stream over, some events arrive
 * twice.
 */
export class Gatherer {
  private readonly seen = new Set<string>();
  private waiting: LiveEvent[] = [];

  /**
   * @param tell receives the collected events, in the order of their arrival
   * @param later calls `work` after `ms` milliseconds
   */
  constructor(
    private readonly tell: (events: readonly LiveEvent[]) => void,
    private readonly later: (work: () => void, ms: number) => void = (work, ms) => void setTimeout(work, ms),
  ) {}

  add(event: LiveEvent): void {
    if (this.seen.has(event.id)) return;
    this.seen.add(event.id);
    const [oldest] = this.seen;
    if (this.seen.size > REMEMBERED_IDS && oldest !== undefined) this.seen.delete(oldest);
    this.waiting.push(event);
    if (this.waiting.length === 1) this.later(() => this.flush(), GATHER_MS);
  }

  private flush(): void {
    const events = this.waiting;
    this.waiting = [];
    this.tell(events);
  }
}

/**
 * Calls `work` at most once in `everyMs` milliseconds. Wishes in between lead to one more call at the end of that time.
 */
export class Throttle {
  private lastAt = -Infinity;
  private isDue = false;

  constructor(
    private readonly work: () => void,
    private readonly everyMs: number,
    private readonly now: () => number,
    private readonly later: (work: () => void, ms: number) => void = (work, ms) => void setTimeout(work, ms),
  ) {}

  want(): void {
    if (this.isDue) return;
    const waitMs = this.lastAt + this.everyMs - this.now();
    if (waitMs <= 0) {
      this.run();
      return;
    }
    this.isDue = true;
    this.later(() => {
      this.isDue = false;
      this.run();
    }, waitMs);
  }

  private run(): void {
    this.lastAt = this.now();
    this.work();
  }
}
