/**
 * Bytes that come in pieces, held as one: it takes less than twice what has come, however small the pieces are. Pieces that are kept
 * as they come take some 400 bytes each, so that 1 MiB sent byte by byte would take 400 MB.
 */
export class GrowingBuffer {
  private held: Buffer = Buffer.alloc(0);
  private length = 0;

  get byteLength(): number {
    return this.length;
  }

  append(piece: Uint8Array): void {
    const end = this.length + piece.byteLength;
    if (end > this.held.byteLength) {
      const grown = Buffer.allocUnsafe(Math.max(end, 2 * this.held.byteLength));
      grown.set(this.bytes());
      this.held = grown;
    }
    this.held.set(piece, this.length);
    this.length = end;
  }

  /** All that has come. Not a copy: it is not to be written to. */
  bytes(): Buffer {
    return this.held.subarray(0, this.length);
  }
}
