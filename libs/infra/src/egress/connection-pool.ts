import type { Socket } from 'node:net';

/** Below what servers commonly keep, so that they seldom close a connection just as it is used. */
const IDLE_TIMEOUT_MS = 4_000;
/** So that a name that was pointed elsewhere, or is no longer allowed, is resolved and judged again under any traffic. */
const MAX_AGE_MS = 60_000;
const MAX_IDLE_PER_KEY = 32;
const MAX_IDLE = 512;

/** A connection taken from the pool, still watched: bytes that nobody asked for close it. */
export interface KeptConnection {
  readonly socket: Socket;
  /** Ends the watch. Begin the request in the same turn of the event loop. */
  begin(): void;
}

interface Idle extends KeptConnection {
  readonly key: string;
  readonly timer: NodeJS.Timeout;
}

/**
 * Connections that wait for another request of the same key: same organization, same connector, same origin
 * (rule EGRESS-8). One that says anything while it waits is closed: the bytes would be taken for the next answer.
 */
export class ConnectionPool {
  /** Oldest first. */
  private idle: readonly Idle[] = [];
  private readonly firstGivenMs = new WeakMap<Socket, number>();

  constructor(private readonly monotonicMs: () => number = () => performance.now()) {}

  /** The connection that waited least; null when none does. */
  take(key: string): KeptConnection | null {
    const found = this.idle.findLast((entry) => entry.key === key);
    if (found === undefined) return null;
    this.remove(found);
    found.socket.ref();
    return found;
  }

  give(key: string, socket: Socket, idleTimeoutMs = IDLE_TIMEOUT_MS): void {
    const remainingMs = Math.min(idleTimeoutMs, IDLE_TIMEOUT_MS, this.remainingAgeMs(socket));
    const isUsable = !socket.destroyed && socket.readable && socket.writable && remainingMs > 0;
    const siblings = this.idle.filter((entry) => entry.key === key).length;
    if (!isUsable || siblings >= MAX_IDLE_PER_KEY) {
      socket.destroy();
      return;
    }
    const close = () => {
      this.remove(entry);
      socket.destroy();
    };
    const begin = () => socket.off('data', close).off('end', close).off('close', close);
    const timer = setTimeout(close, remainingMs);
    const entry: Idle = { key, socket, begin, timer };
    // Neither the wait nor its timer keeps the process alive.
    timer.unref();
    socket.unref();
    socket.on('data', close).on('end', close).on('close', close);
    this.idle = [...this.idle, entry];
    if (this.idle.length > MAX_IDLE) this.idle[0]?.socket.destroy();
  }

  get size(): number {
    return this.idle.length;
  }

  close(): void {
    for (const { socket } of this.idle) socket.destroy();
    this.idle = [];
  }

  private remainingAgeMs(socket: Socket): number {
    const nowMs = this.monotonicMs();
    const sinceMs = this.firstGivenMs.get(socket) ?? nowMs;
    this.firstGivenMs.set(socket, sinceMs);
    return MAX_AGE_MS - (nowMs - sinceMs);
  }

  private remove(entry: Idle): void {
    clearTimeout(entry.timer);
    this.idle = this.idle.filter((other) => other !== entry);
  }
}
