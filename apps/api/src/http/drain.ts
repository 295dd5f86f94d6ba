import { DomainError } from '#libs/domain/kernel';
import { TransientSet } from '#libs/infra/runtime';

/** The refusal of a request that comes after the stop was asked for. It is expected, and nobody's fault. */
export class ShuttingDown extends DomainError {
  constructor() {
    super('service_unavailable', {
      message:
        'The service is shutting down. Send the same request again; another instance, or this one soon, will serve it.',
    });
  }
}

/** Something under way that waits, such as a long poll, can be told to answer with what there is. */
interface UnderWay {
  endWaits(): void;
}

/** Knows what is under way, and lets it finish before the process ends. */
export class Drain {
  private readonly underWay = new TransientSet<UnderWay>();
  private readonly waiters = new Set<() => void>();
  private isAnnounced = false;
  private hasStarted = false;

  /** Said by health, and by every answer that closes its connection. */
  get isDraining(): boolean {
    return this.isAnnounced;
  }

  /** Nothing new is taken in. */
  get isRefusing(): boolean {
    return this.hasStarted;
  }

  /** Requests that have been taken in and not been answered. */
  get underWayCount(): number {
    return this.underWay.size;
  }

  /** @returns called once it has ended */
  enter(one: UnderWay): () => void {
    const leave = this.underWay.add(one);
    if (this.hasStarted) one.endWaits();
    return () => {
      leave();
      if (this.underWay.size === 0) for (const wake of this.waiters) wake();
    };
  }

  /**
   * From now on health says `draining` and every answer closes its connection, while everything is served as before: who
   * sends requests here has time to notice.
   */
  announce(): void {
    this.isAnnounced = true;
  }

  /**
   * From now on every new request, except those for health, is also refused with 503: {@link ShuttingDown}. What waits
   * is told to answer; what works may finish.
   * @returns true when everything under way has been answered, false when `graceMs` was not enough
   */
  async drain(graceMs: number): Promise<boolean> {
    this.announce();
    this.hasStarted = true;
    this.underWay.forEach((one) => one.endWaits());
    if (this.underWay.size === 0) return true;
    return new Promise((resolve) => {
      const finish = (isClean: boolean): void => {
        clearTimeout(timer);
        this.waiters.delete(wake);
        resolve(isClean);
      };
      const wake = (): void => finish(true);
      const timer = setTimeout(() => finish(false), graceMs);
      this.waiters.add(wake);
    });
  }
}
