import { IncomingMessage } from 'node:http';
import { GrowingBuffer } from '#libs/infra/runtime';

/** From here on a piece of a body is worth a buffer of its own. */
const WORTH_KEEPING_BYTES = 1_024;

/**
 * Node's request, except that its body waits as few pieces, however it was sent. Node makes each chunk a piece of its
 * own. The 64 KiB that are read at once hold up to 10,900 of them, which take 5 MB until somebody has decided whether
 * the body is wanted.
 */
export class EdgeRequest extends IncomingMessage {
  /** Small pieces of what was read last. */
  private gathered: GrowingBuffer | null = null;

  /**
   * Called by Node's parser, which stops reading from the connection when the answer is false. The piece is null at the
   * end of the body.
   */
  override push(piece: Buffer | null): boolean {
    if (piece === null || (this.gathered === null && piece.byteLength >= WORTH_KEEPING_BYTES)) {
      this.hand();
      return super.push(piece);
    }
    if (this.gathered === null) {
      this.gathered = new GrowingBuffer();
      // Node runs its next ticks after each piece; an immediate runs when everything that was read is parsed.
      setImmediate(() => this.hand());
    }
    this.gathered.append(piece);
    return this.readableLength + this.gathered.byteLength < this.readableHighWaterMark;
  }

  private hand(): void {
    if (this.gathered === null) return;
    const piece = this.gathered.bytes();
    this.gathered = null;
    super.push(piece);
  }
}
