import type { Position } from '#libs/domain/kernel';

/** The log was set back to an earlier state, by a restore or by a failover that lost commits (rule DEED-14). */
export class LogWentBack extends Error {
  override readonly name = 'LogWentBack';
  constructor(what: 'database' | 'event store', position: Position) {
    super(
      `The ${what} went back in time: it does not hold the event at position ${position} that this process has seen. ` +
        'What the process remembers is void, so it ends: start it again. The next start says whose ledgers lack deeds.',
    );
  }
}
