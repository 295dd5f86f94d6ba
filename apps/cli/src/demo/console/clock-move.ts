/** Said to a process of the demo and back: how far its time of day is from the machine's. */
export interface ClockMove {
  readonly shiftMs: number;
}
