/** Lets one piece of work begin when the one before it has ended, in the order of asking, however it has ended. */
export class OneAtATime {
  private last: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.last.then(work);
    // Whoever asked for the work hears of its failure; the next one only waits.
    this.last = result.catch(() => undefined);
    return result;
  }
}
