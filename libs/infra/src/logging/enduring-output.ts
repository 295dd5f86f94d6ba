import fs from 'node:fs';

/** Of lines that wait for a file that takes none, as on a full disk; what comes then is lost. */
const HELD_BYTES = 1_048_576;
/** Until a pipe whose reader is slow is tried again. */
const BUSY_MS = 100;
const NOTHING = Buffer.alloc(0);

/**
 * Lines of a log, written at once: what was logged before a crash is there after it. A file that takes nothing (a full disk,
 * a terminal that was closed) must not end the service, which says so when the file takes lines again. Pino's own
 * destination would throw, or wait for room for ever.
 *
 * @param onResumed how many lines were lost; told when what had waited is written
 */
export const enduringOutput = (fd: number, onResumed: (lostLines: number) => void): { write(line: string): void } => {
  let held = NOTHING;
  let lostLines = 0;
  /** Whether nothing waits any more. */
  const flushed = (): boolean => {
    while (held.byteLength > 0) {
      try {
        held = held.subarray(fs.writeSync(fd, held));
      } catch (error) {
        if (!isBusy(error)) return false;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
      }
    }
    return true;
  };
  return {
    write: (line) => {
      const bytes = Buffer.from(line);
      const isLost = held.byteLength + bytes.byteLength > HELD_BYTES && !flushed();
      if (isLost) lostLines += 1;
      else held = held.byteLength === 0 ? bytes : Buffer.concat([held, bytes]);
      if (isLost || !flushed() || lostLines === 0) return;
      const lost = lostLines;
      lostLines = 0;
      onResumed(lost);
    },
  };
};

const isBusy = (error: unknown): boolean => ['EAGAIN', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '');
