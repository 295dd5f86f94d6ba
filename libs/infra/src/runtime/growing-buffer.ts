/**
 * Collects bytes that arrive in pieces into one buffer. It takes less than twice the bytes received, however small the
 * pieces are. A list of pieces takes some 400 bytes for each, so that 1 MiB sent byte by byte would take 400 MB.
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

  /** All bytes received. Not a copy, so it must not be written to. */
  bytes(): Buffer {
    return this.held.subarray(0, this.length);
  }
}
