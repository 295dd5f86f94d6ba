import type { EndSignal } from '#libs/domain/kernel';

/**
 * An `AbortController` and its signal in one object, made for every call. It takes a few bytes until a listener is
 * added. Only Node 20 needs it: its controller makes a signal with a hidden class of its own each time, which later
 * versions do not (docs/performance.md).
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
