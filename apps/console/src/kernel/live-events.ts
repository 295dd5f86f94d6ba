/** One event of the stream (docs/events.md), as far as the Console reads it. */
export interface LiveEvent {
  readonly id: string;
  readonly type: string;
  readonly org: string;
  readonly hydrated: boolean;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Every type that there is a listener for: an EventSource tells nothing of the others. */
export const EVENT_TYPES = [
  ...['action.created', 'action.decided', 'action.executed', 'action.witnessed'],
  ...['deed.sealed', 'approval.requested', 'approval.countersigned', 'approval.decided'],
  ...['agent.stopped', 'agent.resumed', 'agent.suspended', 'org.stopped', 'org.started', 'policy.activated'],
] as const;

/** Null for what is no event of ours. */
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

const STATES = ['pending_approval', 'executing', 'witnessing', 'recorded', 'sealed'];
const STATUSES = ['pending', 'approved', 'denied', 'expired', 'cancelled'];

/** How far an object has come: a list that was read later may show an earlier state than an event did. */
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

/** Gathers events for a moment and tells each once: where streams are handed over, some come twice. */
export class Gatherer {
  private readonly seen = new Set<string>();
  private waiting: LiveEvent[] = [];

  /**
   * @param tell what was gathered, in its order
   * @param later calls after so many milliseconds
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

/** At most one call in so many milliseconds; the last one wanted is never lost. */
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
