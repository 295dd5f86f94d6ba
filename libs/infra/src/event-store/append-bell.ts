/** Rung after each append of this process, so that its own subscriptions need not wait for their next poll. */
export class AppendBell {
  private readonly listeners = new Set<() => void>();

  ring(): void {
    for (const listener of this.listeners) listener();
  }

  /** Returns a function that removes the listener. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}
