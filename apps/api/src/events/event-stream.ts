import type { FedEvent, FeedReader } from './event-feed.js';
import type { EventFilter } from './event-filter.js';
import { JoinedFrames } from './joined-frames.js';
import { frameOf, pingFrame, resyncFrame } from './sse-frames.js';

/** How often a stream says something, and how long it lives (rule EVENT-3). */
export const HEARTBEAT_S = 15;
const HEARTBEAT_MS = HEARTBEAT_S * 1_000;
const LIFE_MS = 1_800_000;
const CHECK_MS = 60_000;
/** So many events behind, a reader is too slow to be told more. */
export const LAG_EVENTS = 256;

/** What a stream is written to. */
export interface StreamOutput {
  readonly isBlocked: boolean;
  readonly isOver: boolean;
  write(chunk: Uint8Array): void;
  end(): void;
}

/**
 * One open stream. What it is told waits here until the next tick, and goes out in one write. A reader that takes nothing is
 * told no more than it may be behind; it costs no other stream anything.
 */
export class EventStream implements FeedReader {
  private waiting: Uint8Array[] = [];
  private waitingEvents = 0;
  private wasBlocked = false;
  private writtenAtMs: number;
  private checkedAtMs: number;
  private isDoubted = false;
  /** The last event since the last one that was told, of those that this stream does not show. */
  private passed: FedEvent | null = null;

  constructor(
    readonly filter: EventFilter,
    private readonly output: StreamOutput,
    private readonly openedAtMs: number,
  ) {
    this.writtenAtMs = openedAtMs;
    this.checkedAtMs = openedAtMs;
  }

  get isOver(): boolean {
    return this.output.isOver;
  }

  offer(event: FedEvent): void {
    if (this.isOver) return;
    this.waiting.push(event.frameFor(this.filter.variant));
    this.waitingEvents += 1;
    this.passed = null;
  }

  passOver(event: FedEvent): void {
    this.passed = event;
  }

  doubt(): void {
    this.isDoubted = true;
  }

  resync(): void {
    this.passed = null;
    this.say(resyncFrame('bus_reconnected'));
  }

  say(frame: Uint8Array): void {
    if (!this.isOver) this.waiting.push(frame);
  }

  /** Its credential has ended: nothing that waits is told any more. */
  endSession(code: string, message: string): void {
    this.endWith(frameOf('session_ended', { code, message }));
  }

  /** With all that waits: whoever comes back goes on behind it. */
  end(): void {
    if (this.isOver) return;
    this.flush(this.writtenAtMs, new JoinedFrames());
    this.output.end();
  }

  /** Whether its credential is to be judged again; asked once for each time that it is due. */
  isCheckDue(nowMs: number): boolean {
    if (!this.isDoubted && nowMs - this.checkedAtMs < CHECK_MS) return false;
    this.isDoubted = false;
    this.checkedAtMs = nowMs;
    return true;
  }

  /** @param joined of this tick: shared with the other streams */
  tick(nowMs: number, joined = new JoinedFrames()): void {
    if (this.isOver) return;
    if (nowMs - this.openedAtMs >= LIFE_MS) this.end();
    else if (this.output.isBlocked) this.waitForReader();
    else this.writeOn(nowMs, joined);
  }

  /** A burst larger than the socket's buffer blocks for a moment, too: only who is still there at the next tick is slow. */
  private waitForReader(): void {
    if (this.wasBlocked && this.waitingEvents >= LAG_EVENTS) this.endWith(resyncFrame('lagged'));
    this.wasBlocked = true;
  }

  private writeOn(nowMs: number, joined: JoinedFrames): void {
    this.wasBlocked = false;
    if (this.waiting.length === 0 && nowMs - this.writtenAtMs >= HEARTBEAT_MS) this.ping();
    this.flush(nowMs, joined);
  }

  /** Nothing waits, so all before what was passed over is told: whoever comes back need not know of it. */
  private ping(): void {
    this.waiting.push(pingFrame(this.passed?.cursor ?? null));
    this.passed = null;
  }

  private flush(nowMs: number, joined: JoinedFrames): void {
    if (this.waiting.length === 0) return;
    this.output.write(joined.join(this.waiting));
    this.waiting = [];
    this.waitingEvents = 0;
    this.writtenAtMs = nowMs;
  }

  private endWith(frame: Uint8Array): void {
    if (this.isOver) return;
    this.waiting = [];
    this.output.write(frame);
    this.output.end();
  }
}
