/**
 * Room for messages above {@link SMALL_BYTES}, of one process: a message is held whole while it is read, and its value takes
 * up to thirty times its text.
 */
const SMALL_BYTES = 1_048_576;
const LARGEST_BYTES = 4_194_304;
const TOGETHER_BYTES = 67_108_864;

let takenBytes = 0;

/** What one message takes of that room. */
export class MessageRoom {
  private hasTaken = false;

  /** False where a message that has grown to that size finds none. */
  fits(bytes: number): boolean {
    if (bytes <= SMALL_BYTES || this.hasTaken) return true;
    if (takenBytes + LARGEST_BYTES > TOGETHER_BYTES) return false;
    takenBytes += LARGEST_BYTES;
    this.hasTaken = true;
    return true;
  }

  leave(): void {
    if (this.hasTaken) takenBytes -= LARGEST_BYTES;
    this.hasTaken = false;
  }
}

/** Of a whole answer, and so of any message in it. */
export const ANSWER_MAX_BYTES = LARGEST_BYTES;
