/**
 * The bytes of several frames in one. Streams that are told the same write the same bytes: of one tick they are joined once,
 * and not once for each stream.
 */
export class JoinedFrames {
  private readonly known = new Map<
    Uint8Array,
    { readonly frames: readonly Uint8Array[]; readonly bytes: Uint8Array }
  >();

  /** @param frames at least one, in their order; they are never changed again */
  join(frames: readonly Uint8Array[]): Uint8Array {
    const last = frames.at(-1) as Uint8Array;
    if (frames.length === 1) return last;
    const known = this.known.get(last);
    if (known !== undefined && areSame(known.frames, frames)) return known.bytes;
    const bytes = Buffer.concat(frames);
    this.known.set(last, { frames, bytes });
    return bytes;
  }
}

/** A frame is written once for all who see the same of an event: it is the same object. */
const areSame = (some: readonly Uint8Array[], others: readonly Uint8Array[]): boolean =>
  some.length === others.length && some.every((frame, index) => frame === others[index]);
