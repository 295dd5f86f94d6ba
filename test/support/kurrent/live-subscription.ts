import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { CommitLog } from './commit-log.js';
import { eventMessage, positionIn, type ReadCall } from './reading.js';
import { invalidPosition, timeout } from './rpc-error.js';

export const TOO_SLOW = 'Consumer too slow to handle event while live. Client resubscription required.';

export interface SubscribedLog {
  /** What this node has. */
  readonly log: CommitLog;
  readonly subscriptions: Set<LiveSubscription>;
  /** A live subscription that has more events than these before it is dropped. */
  readonly maxBacklog: number;
}

/** A subscription to $all: what there is, then that it has caught up, then what comes. */
export class LiveSubscription {
  private next: number;
  private isLive = false;
  private isWaitingForDrain = false;
  private isOver = false;
  private readonly unlisten: () => void;
  private readonly after: number;

  constructor(
    private readonly node: SubscribedLog,
    private readonly call: ReadCall,
    /** Why this node may not be read. It is asked for what there is, and not for what comes. */
    leaderRefusal: Error | null,
  ) {
    const { log } = node;
    node.subscriptions.add(this);
    const all = call.request.getOptions()!.getAll()!;
    // Beyond the end is no error: what comes is passed over in silence up to there.
    this.after = all.hasPosition() ? positionIn(all) : -1;
    this.next = all.hasEnd() ? log.all.length : log.indexAfter(this.after);
    this.unlisten = log.onAppended(() => this.onAppended());
    call.on('cancelled', () => this.end());
    call.on('drain', () => this.onDrain());
    const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(crypto.randomUUID());
    call.write(new streams.ReadResp().setConfirmation(confirmation));
    const isBehind = this.next < log.all.length;
    if (!log.isReadableFrom(this.after)) this.fail(invalidPosition());
    else if (leaderRefusal && isBehind) this.fail(leaderRefusal);
    else this.pump();
  }

  drop(reason: string): void {
    this.fail(timeout(reason));
  }

  private onAppended(): void {
    const backlog = this.node.log.all.length - this.next;
    if (this.isLive && backlog > this.node.maxBacklog) this.drop(TOO_SLOW);
    else if (!this.isWaitingForDrain) this.pump();
  }

  private onDrain(): void {
    this.isWaitingForDrain = false;
    this.pump();
  }

  private pump(): void {
    if (this.isOver) return;
    while (this.next < this.node.log.all.length) {
      const event = this.node.log.all[this.next]!;
      this.next += 1;
      if (event.position <= this.after) continue;
      if (this.call.write(eventMessage(event))) continue;
      this.isWaitingForDrain = true;
      return;
    }
    if (!this.isLive) this.call.write(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()));
    this.isLive = true;
  }

  private fail(error: Error): void {
    this.end();
    this.call.emit('error', error);
  }

  private end(): void {
    this.isOver = true;
    this.unlisten();
    this.node.subscriptions.delete(this);
  }
}
