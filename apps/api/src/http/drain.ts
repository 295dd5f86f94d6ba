/** Counts what is under way, and lets it finish before the process ends. */
export class Drain {
  private underWay = 0;
  private readonly started = new AbortController();
  private readonly waiters = new Set<() => void>();

  get isDraining(): boolean {
    return this.started.signal.aborted;
  }

  /** Aborted when draining starts: a long poll answers with what there is, instead of holding the process up. */
  get signal(): AbortSignal {
    return this.started.signal;
  }

  /** Requests that have been taken in and not been answered. */
  get underWayCount(): number {
    return this.underWay;
  }

  enter(): void {
    this.underWay += 1;
  }

  leave(): void {
    this.underWay -= 1;
    if (this.underWay === 0) for (const wake of this.waiters) wake();
  }

  /**
   * From now on health says `draining`, and every other new request is refused with 503 and `Connection: close`.
   * @returns true when everything under way has been answered, false when `graceMs` was not enough
   */
  async drain(graceMs: number): Promise<boolean> {
    this.started.abort();
    if (this.underWay === 0) return true;
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
