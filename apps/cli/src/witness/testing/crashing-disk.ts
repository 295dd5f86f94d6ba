import type { StateFiles } from '../state-files.js';

/** What ends everything at a step: the process alone (what it wrote stays with the kernel), or the power. */
class Crash extends Error {
  override readonly name = 'Crash';
}

interface Bytes {
  readonly written: Uint8Array;
  /** Null: never synced, and anything may be found after a loss of power. */
  synced: Uint8Array | null;
}

/**
 * A folder as a kernel and a disk keep it: bytes last once their file is synced, names once the folder is. It fails at one
 * step, before or after that has its effect, and then at every other one until it is mounted again.
 */
export class CrashingDisk implements StateFiles {
  #names = new Map<string, Bytes>();
  #lasting = new Map<string, Bytes>();
  #stepsLeft = Number.POSITIVE_INFINITY;
  #failsAfter = false;
  isDown = false;

  /** Counts steps that change something. */
  crashAt(step: number, isAfter: boolean): void {
    [this.#stepsLeft, this.#failsAfter] = [step, isAfter];
  }

  /** As a new process finds it. `keeps` says of each name that was not synced whether its change has come to the disk all the same. */
  mountAgain(isPowerLost: boolean, keeps: (name: string) => boolean): void {
    this.isDown = false;
    this.#stepsLeft = Number.POSITIVE_INFINITY;
    if (!isPowerLost) return;
    const found = new Map<string, Bytes>();
    for (const name of new Set([...this.#names.keys(), ...this.#lasting.keys()])) {
      const bytes = (keeps(name) ? this.#names : this.#lasting).get(name);
      if (bytes !== undefined) found.set(name, { written: bytes.synced ?? new Uint8Array(), synced: bytes.synced });
    }
    this.#names = found;
    this.#lasting = new Map(found);
  }

  async read(name: string): Promise<Uint8Array | null> {
    if (this.isDown) throw new Crash();
    return this.#names.get(name)?.written ?? null;
  }

  write(name: string, bytes: Uint8Array): Promise<void> {
    return this.#step(() => this.#names.set(name, { written: bytes, synced: null }));
  }

  sync(name: string): Promise<void> {
    return this.#step(() => {
      const file = this.#names.get(name);
      if (file !== undefined) file.synced = file.written;
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#step(() => {
      const file = this.#names.get(from);
      if (file === undefined) throw new Error(`${from} is not there`);
      this.#names.delete(from);
      this.#names.set(to, file);
    });
  }

  syncFolder(): Promise<void> {
    return this.#step(() => (this.#lasting = new Map(this.#names)));
  }

  async #step(effect: () => unknown): Promise<void> {
    // Others have their turn between any two steps, as they have on a disk.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isDown) throw new Crash();
    this.#stepsLeft -= 1;
    const isLast = this.#stepsLeft <= 0;
    if (isLast) this.isDown = true;
    if (!isLast || this.#failsAfter) effect();
    if (isLast) throw new Crash();
  }
}
