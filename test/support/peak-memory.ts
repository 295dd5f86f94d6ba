import { readFileSync } from 'node:fs';

/**
 * The most memory that this process has held at once, in KiB. Linux's `ru_maxrss` (`process.resourceUsage().maxRSS`) is not asked where
 * another source is: it outlives exec, so that a child begins with the peak of whoever started it (getrusage(2); proc(5), `VmHWM`).
 */
export const peakMemoryKiB = (): number => {
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(statusOfThis())?.[1];
  return peak === undefined ? process.resourceUsage().maxRSS : Number(peak);
};

const statusOfThis = (): string => {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
};
