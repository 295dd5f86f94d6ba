import { claimedTimeOf, type Clock, type Position, type RecordedEvent } from '#libs/domain/kernel';

/** Where the log ended, and when that was asked. */
interface Look {
  readonly atMs: number;
  readonly head: Position;
}

/**
 * Whether events have been in the log for so long. What a process saw of the log itself decides: an event's own time is by the
 * clock of whoever recorded it, and of the moment before. Where it saw nothing that tells, because it has only just
 * started or is seldom asked, the event's own word counts. One that does not say since when it is there counts as old.
 */
export class TimeInLog {
  /** Those within the time, and the last one before it, which tells whatever older ones could. */
  private looks: readonly Look[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  /** @param head where the log ends now */
  sawEnd(head: Position): void {
    const looks = [...this.looks, { atMs: this.clock.monotonicMs(), head }];
    const pastCount = looks.filter((look) => this.isPast(look)).length;
    this.looks = looks.slice(Math.max(0, pastCount - 1));
  }

  isOver(recorded: RecordedEvent): boolean {
    const { position } = recorded;
    if (this.wasSeenOver(position)) return true;
    if (this.looks.some((look) => !this.isPast(look) && look.head < position)) return false;
    const atMs = claimedTimeOf(recorded);
    return atMs === null || this.clock.nowMs() - atMs >= this.limitMs;
  }

  /** Whether this process itself has seen the log hold what stands there for so long: no event’s own word is in it. */
  wasSeenOver(position: Position): boolean {
    return this.looks.some((look) => this.isPast(look) && look.head >= position);
  }

  private isPast({ atMs }: Look): boolean {
    return this.clock.monotonicMs() - atMs >= this.limitMs;
  }
}
