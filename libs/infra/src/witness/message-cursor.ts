import { ChangeLogFault } from './change-log-fault.js';

/** Reads one message of the replication protocol from its beginning. Whatever would reach beyond its end is malformed. */
export class MessageCursor {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  uint8(): number {
    return this.bytes.readUInt8(this.claim(1));
  }

  uint16(): number {
    return this.bytes.readUInt16BE(this.claim(2));
  }

  uint32(): number {
    return this.bytes.readUInt32BE(this.claim(4));
  }

  uint64(): bigint {
    return this.bytes.readBigUInt64BE(this.claim(8));
  }

  int64(): bigint {
    return this.bytes.readBigInt64BE(this.claim(8));
  }

  /** A view: whoever keeps it copies it, because the connection writes over its buffer. */
  view(length: number): Buffer {
    const start = this.claim(length);
    return this.bytes.subarray(start, start + length);
  }

  /** A text that ends with a zero byte. */
  name(): string {
    const end = this.bytes.indexOf(0, this.at);
    if (end === -1) throw new ChangeLogFault('malformed');
    const text = this.bytes.toString('utf8', this.at, end);
    this.at = end + 1;
    return text;
  }

  private claim(length: number): number {
    const start = this.at;
    if (start + length > this.bytes.byteLength) throw new ChangeLogFault('malformed');
    this.at = start + length;
    return start;
  }
}
