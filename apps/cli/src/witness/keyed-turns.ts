/** One at a time for each key, in the order of asking. A key that nobody uses takes no memory. */
export class KeyedTurns {
  readonly #last = new Map<string, Promise<void>>();

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(work);
    // Whoever comes next waits for the end, whatever it is; the error is the caller's.
    const over = result.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, over);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key);
    }
  }
}
