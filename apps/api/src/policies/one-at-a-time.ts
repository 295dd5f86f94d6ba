/** Work of which one is done at a time in this process, in the order of asking: many at once would slow down everybody. */
export class OneAtATime {
  private last: Promise<unknown> = Promise.resolve();

  /** @throws what the work throws */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const running = this.last.then(work);
    this.last = running.catch(() => undefined);
    return running;
  }
}
