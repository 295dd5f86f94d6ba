import type { EndSignal, OrgId } from '../kernel/index.js';

/** A check keeps a processor busy, so more at once would only slow down all other requests. */
const CHECKS_MAX = 2;

type Work<Result> = (abandoned: EndSignal) => Promise<Result>;

/** A check that waits or runs, and the callers that share its result. */
class Shared<Result> {
  readonly gone = new AbortController();
  result: Promise<Result> | null = null;
  private askers = 0;

  /** Adds a caller. The check is abandoned when the last caller has gone. */
  join(abandoned: EndSignal): void {
    this.askers += 1;
    const leave = (): void => {
      this.askers -= 1;
      if (this.askers === 0) this.gone.abort();
    };
    if (abandoned.aborted) leave();
    else abandoned.addEventListener('abort', leave);
  }
}

/**
 * Runs checks of ledgers: at most one per organization and few in all at a time, in the order of the calls. A call for
 * a check that is already waiting shares its result. It never shares a check that has begun, whose result may be older
 * than the call.
 */
export class SharedChecks<Result> {
  private readonly waiting = new Map<string, Shared<Result>>();
  private readonly lastOf = new Map<OrgId, Promise<unknown>>();
  private readonly queue: (() => void)[] = [];
  private running = 0;

  run(org: OrgId, what: string, abandoned: EndSignal, work: Work<Result>): Promise<Result> {
    const key = `${org} ${what}`;
    const known = this.waiting.get(key);
    if (known?.result && !known.gone.signal.aborted) {
      known.join(abandoned);
      return known.result;
    }
    const shared = new Shared<Result>();
    shared.join(abandoned);
    this.waiting.set(key, shared);
    const result = this.inTurn(org, () => {
      if (this.waiting.get(key) === shared) this.waiting.delete(key);
      return work(shared.gone.signal);
    });
    shared.result = result;
    return result;
  }

  private inTurn(org: OrgId, begin: () => Promise<Result>): Promise<Result> {
    const result = (this.lastOf.get(org) ?? Promise.resolve()).then(() => this.inPlace(begin));
    const forget = (): void => {
      if (this.lastOf.get(org) === over) this.lastOf.delete(org);
    };
    const over = result.then(forget, forget);
    this.lastOf.set(org, over);
    return result;
  }

  private async inPlace(begin: () => Promise<Result>): Promise<Result> {
    await this.takePlace();
    try {
      return await begin();
    } finally {
      this.givePlaceBack();
    }
  }

  private async takePlace(): Promise<void> {
    if (this.running < CHECKS_MAX) this.running += 1;
    else await new Promise<void>((resolve) => this.queue.push(resolve));
  }

  /** Hands the place to the next call in the queue, if there is one. */
  private givePlaceBack(): void {
    const next = this.queue.shift();
    if (next) next();
    else this.running -= 1;
  }
}
