/**
 * The part of `AbortSignal` that a call uses: whether the call is over, and a notification when it ends. Every
 * `AbortSignal` is an `EndSignal`.
 */
export interface EndSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * An `AbortController` and its signal in one object, made for every call. It takes a few bytes until a listener is
 * added; Node's controller makes an event target with three hidden classes each time (docs/performance.md).
 */
export class CallEnd implements EndSignal {
  private readonly listeners: (() => void)[] = [];
  #aborted = false;

  get aborted(): boolean {
    return this.#aborted;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#aborted && !this.listeners.includes(listener)) this.listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.listeners.indexOf(listener);
    if (index >= 0) this.listeners.splice(index, 1);
  }

  /**
   * Calls each listener once, in the order in which they were added. A listener that an earlier one removes is not
   * called. A listener must not throw, because the remaining listeners would then not be called.
   */
  abort(): void {
    this.#aborted = true;
    for (let next = this.listeners.shift(); next; next = this.listeners.shift()) next();
  }
}
