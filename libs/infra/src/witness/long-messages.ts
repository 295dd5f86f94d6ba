/** Type byte and length, which counts itself (PostgreSQL documentation, Message Formats). */
const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;
const [COPY_DATA, WAL_DATA] = [0x64, 0x77];
/** Of WAL_DATA: its own type, two places and a time. The message of pgoutput stands behind. */
const WAL_HEADER_BYTES = 25;
/** INSERT, UPDATE and DELETE: what follows the kind and the table is rows. */
const CHANGES: readonly number[] = [0x49, 0x55, 0x44];
const TABLE_BYTES = 4;
/** The last byte of a header that is looked at: which tuple of the row comes first. */
const LOOKED_AT_BYTES = HEADER_BYTES + WAL_HEADER_BYTES + 1 + TABLE_BYTES + 1;
/** Stands in a changed row where its tuples would begin, and pgoutput has no such tuple: the row was too long. */
export const LEFT_AWAY = 0x2d;
const NOTHING = Buffer.alloc(0);

/** As much of a long message as is enough for its kind, and for a mark. */
const KEPT_BYTES = 1_024;

/**
 * Shortens what is too long in a stream of the log, before anybody holds it whole: of a changed row that it was changed and
 * in which table, of anything else how it begins. One row of hundreds of megabytes would else end the reading for ever, or
 * this process: the database sends it again each time, and everything else comes after it.
 */
export class LongMessages {
  /** The header of a message, with the first bytes of its body where it is long. It was not given on yet. */
  private begins: Buffer = NOTHING;
  private wanted = HEADER_BYTES;
  private passing = 0;
  private leftAway = 0;

  /** @param overBytes longer bodies are shortened: at least {@link KEPT_BYTES} */
  constructor(private readonly overBytes: number) {}

  /** What goes on of the bytes that came. */
  take(chunk: Buffer): Buffer {
    const out: Buffer[] = [];
    let rest = chunk;
    while (rest.byteLength > 0) {
      const bytes = this.next(rest, out);
      rest = rest.subarray(bytes);
    }
    return out.length === 1 ? (out[0] ?? NOTHING) : Buffer.concat(out);
  }

  /** How many bytes were taken. */
  private next(rest: Buffer, out: Buffer[]): number {
    if (this.passing > 0) {
      const passed = rest.subarray(0, this.passing);
      this.passing -= passed.byteLength;
      out.push(passed);
      return passed.byteLength;
    }
    if (this.leftAway > 0) {
      const bytes = Math.min(this.leftAway, rest.byteLength);
      this.leftAway -= bytes;
      return bytes;
    }
    const taken = rest.subarray(0, this.wanted - this.begins.byteLength);
    this.begins = this.begins.byteLength === 0 ? taken : Buffer.concat([this.begins, taken]);
    if (this.begins.byteLength === this.wanted) this.begin(out);
    return taken.byteLength;
  }

  private begin(out: Buffer[]): void {
    // A length that counts less than itself is for others to refuse.
    const bodyBytes = Math.max(0, this.begins.readUInt32BE(1) - LENGTH_BYTES);
    const isLong = this.begins[0] === COPY_DATA && bodyBytes > this.overBytes;
    if (isLong && this.wanted === HEADER_BYTES) {
      this.wanted = LOOKED_AT_BYTES;
      return;
    }
    const begins = isLong && this.begins[HEADER_BYTES] === WAL_DATA ? shortened(this.begins) : this.begins;
    const kept = begins === this.begins ? bodyBytes : begins.readUInt32BE(1) - LENGTH_BYTES;
    this.passing = kept - (begins.byteLength - HEADER_BYTES);
    this.leftAway = bodyBytes - kept;
    out.push(begins);
    this.begins = NOTHING;
    this.wanted = HEADER_BYTES;
  }
}

const shortened = (begins: Buffer): Buffer => {
  const other = Buffer.from(begins);
  const isChange = CHANGES.includes(other[HEADER_BYTES + WAL_HEADER_BYTES] ?? 0);
  if (isChange) other[LOOKED_AT_BYTES - 1] = LEFT_AWAY;
  other.writeUInt32BE((isChange ? LOOKED_AT_BYTES - HEADER_BYTES : KEPT_BYTES) + LENGTH_BYTES, 1);
  return other;
};
