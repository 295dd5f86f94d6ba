import type { Timestamp } from '#libs/domain/kernel';

/** Where reading begins, and since when. */
export interface Attachment {
  /**
   * What committed before it and was not seen is not known to be missing: nobody followed then, or the slot, which is
   * further than anybody has read, may be another of the same name.
   */
  readonly start: string;
  /** When the log of the service said that this log is followed: what began before may be of another one. */
  readonly since: Timestamp;
  /** Everything before it was handled, by whoever read the slot. */
  readonly confirmed: string;
}
