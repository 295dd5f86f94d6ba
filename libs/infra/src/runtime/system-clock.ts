import { Clock } from '#libs/domain/kernel';

/** The machine's clocks. */
export class SystemClock extends Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }
}
