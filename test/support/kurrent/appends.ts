import { setImmediate as afterThisTurn, setTimeout as delay } from 'node:timers/promises';
import type { CommitLog, Decision, Expected, ProposedEvent } from './commit-log.js';

/** The server's default. It counts data alone: a slip of its source, and so its behaviour. */
export const MAX_APPEND_BYTES = 1_048_576;

const MAX_DELAY_MS = 3;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const EMPTY_UUID = '00000000-0000-0000-0000-000000000000';

export interface ProposedAppend {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly ProposedEvent[];
}

export type AppendAnswer = Decision | { readonly kind: 'timeout' | 'too_large' | 'bad_request' };

interface Fault {
  readonly isWritten: boolean;
  readonly happened: () => void;
}

/** Takes appends in the order of their arrival and answers each once it is committed. */
export class Appends {
  /** Streams and revisions of what is written and not yet committed. */
  private readonly underWay = new Set<string>();
  private fault: Fault | null = null;
  private hasMajority = true;
  private untilCommitted: () => Promise<unknown> = () => afterThisTurn();

  constructor(private readonly log: CommitLog) {}

  delay(untilCommitted: () => Promise<unknown> = () => delay(Math.random() * MAX_DELAY_MS)): void {
    this.untilCommitted = untilCommitted;
  }

  loseNextConnection(isWritten: boolean): Promise<void> {
    return new Promise((happened) => {
      this.fault = { isWritten, happened };
    });
  }

  /** From now on whatever is appended stays uncommitted, and so unanswered. */
  loseMajority(): void {
    this.hasMajority = false;
  }

  /** `cut` ends the connection that brought the append, which then has no answer: null. */
  async take(append: ProposedAppend, cut: () => void): Promise<AppendAnswer | null> {
    const refusal = refusalOf(append);
    if (refusal) return refusal;
    if (!this.hasMajority) return new Promise(() => undefined);
    const { fault } = this;
    if (fault) {
      this.fault = null;
      if (fault.isWritten) this.log.append(append.stream, append.expected, append.events);
      cut();
      fault.happened();
      return null;
    }
    const decision = this.log.append(append.stream, append.expected, append.events);
    if (decision.kind === 'written') await this.commit(append, decision.revision);
    // A repetition of what is still under way is dropped; its client hears so when the server's timer runs out.
    const isDropped = decision.kind === 'repeated' && this.underWay.has(`${append.stream}@${decision.revision}`);
    return isDropped ? { kind: 'timeout' } : decision;
  }

  private async commit({ stream, events }: ProposedAppend, lastRevision: number): Promise<void> {
    const written = events.map((_, index) => `${stream}@${lastRevision - index}`);
    for (const place of written) this.underWay.add(place);
    await this.untilCommitted();
    for (const place of written) this.underWay.delete(place);
  }
}

const refusalOf = ({ events }: ProposedAppend): AppendAnswer | null => {
  const isEventFit = ({ id, type }: ProposedEvent): boolean => UUID.test(id) && id !== EMPTY_UUID && type !== '';
  if (!events.every(isEventFit)) return { kind: 'bad_request' };
  const bytes = events.reduce((sum, { data }) => sum + data.length, 0);
  return bytes > MAX_APPEND_BYTES ? { kind: 'too_large' } : null;
};
