import { DomainError, type OrgId } from '#libs/domain/kernel';
import type { Principal } from '../http/authenticator.port.js';

/** Streams that are open in one process (rule EVENT-4). */
const PER_CALLER = 8;
const PER_ORGANIZATION = 200;
/** Nobody knows when another one ends; sooner than this is no use. */
const RETRY_AFTER_SECONDS = 5;

/** Counts the streams, of events and of the MCP door, that each caller, and each organization, holds open. */
export class OpenStreams {
  private readonly counts = new Map<string, number>();

  /**
   * @returns called once it has closed
   * @throws {DomainError} rate_limited
   */
  take(caller: Principal): () => void {
    const own = caller.kind === 'person' ? caller.user : caller.key;
    this.requireRoom(own, PER_CALLER, `This ${caller.kind === 'person' ? 'person' : 'key'}`);
    this.requireRoom(caller.org, PER_ORGANIZATION, 'The organization');
    this.add(own, 1);
    this.add(caller.org, 1);
    return () => {
      this.add(own, -1);
      this.add(caller.org, -1);
    };
  }

  countOf(holder: string | OrgId): number {
    return this.counts.get(holder) ?? 0;
  }

  private requireRoom(holder: string, max: number, who: string): void {
    if (this.countOf(holder) < max) return;
    throw new DomainError('rate_limited', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      message: `${who} has ${max} event streams open, and no more are served at once. Close one, then try again.`,
    });
  }

  private add(holder: string, by: 1 | -1): void {
    const count = this.countOf(holder) + by;
    if (count === 0) this.counts.delete(holder);
    else this.counts.set(holder, count);
  }
}
