import type { EndSignal } from '#libs/domain/kernel';
import { CallEnd } from '#libs/infra/runtime';

/** One that has passed already aborts at once: nothing is begun. */
export const deadlineAfter = (remainingMs: number): { signal: EndSignal; clear: () => void } => {
  const signal = new CallEnd();
  const timer = setTimeout(() => signal.abort(), Math.max(0, remainingMs));
  if (remainingMs <= 0) signal.abort();
  return { signal, clear: () => clearTimeout(timer) };
};
