import type { EndSignal } from '#libs/domain/kernel';

/** Remembers a ring that comes while nobody listens. */
export class Bell {
  #isRung = false;
  private wake: (() => void) | null = null;

  get isRung(): boolean {
    return this.#isRung;
  }

  ring(): void {
    this.#isRung = true;
    this.wake?.();
  }

  reset(): void {
    this.#isRung = false;
  }

  rungWithin(ms: number, ended: EndSignal): Promise<void> {
    if (this.#isRung) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        ended.removeEventListener('abort', done);
        this.wake = null;
        resolve();
      };
      const timer = setTimeout(done, ms);
      ended.addEventListener('abort', done);
      this.wake = done;
    });
  }
}
