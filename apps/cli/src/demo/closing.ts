/** What must be closed, in the reverse of the order in which it was opened: once, however the demo ends. */
export class Closing {
  private readonly steps: (() => Promise<void>)[] = [];
  private closed: Promise<void> | null = null;

  add(step: () => Promise<void>): void {
    this.steps.unshift(step);
  }

  get isRunning(): boolean {
    return this.closed !== null;
  }

  /** @param isFirstKept leaves out what was opened first */
  run({ isFirstKept = false } = {}): Promise<void> {
    this.closed ??= this.runSteps(isFirstKept ? this.steps.slice(0, -1) : this.steps);
    return this.closed;
  }

  private async runSteps(steps: readonly (() => Promise<void>)[]): Promise<void> {
    for (const step of steps) await step();
  }
}
