/** A part of a text: from `start` up to and without `end`, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const ROOT = 0;
const NONE = 0;
const UNITS = 65_536;
/** Nearly every unit of an answer is Latin-1, and nearly every one is asked of the root. */
const LATIN_UNITS = 256;

/**
 * Finds all needles in one pass, in time linear in the text and, once, in the needles, whatever both hold (Aho and
 * Corasick, Efficient String Matching, 1975). A node's first child lies in arrays; only a further child, of which a needle
 * makes one at most, needs a place in the map.
 */
export class NeedleSearch {
  private readonly rootChildren = new Int32Array(LATIN_UNITS);
  private readonly firstChild: Int32Array;
  private readonly nextSibling: Int32Array;
  /** The unit that leads to the node. */
  private readonly unit: Uint16Array;
  private readonly furtherChildren = new Map<number, number>();
  /** The node of the longest proper ending that begins a needle too. */
  private readonly fallback: Int32Array;
  /** Length of the longest needle that ends at the node; 0 without one. */
  private readonly longest: Int32Array;
  private nodes = 1;

  /** Empty needles find nothing. */
  constructor(needles: readonly string[]) {
    const capacity = 1 + needles.reduce((sum, needle) => sum + needle.length, 0);
    this.firstChild = new Int32Array(capacity);
    this.nextSibling = new Int32Array(capacity);
    this.unit = new Uint16Array(capacity);
    this.fallback = new Int32Array(capacity);
    this.longest = new Int32Array(capacity);
    for (const needle of needles) this.insert(needle);
    this.link();
  }

  /** Every part of a text, given as its UTF-16 units, that a needle covers, in order; needles that overlap are one part, neighbours are two. */
  spansIn(units: Uint16Array): readonly Span[] {
    const spans: Span[] = [];
    if (this.nodes === 1) return spans;
    let node = ROOT;
    for (let index = 0; index < units.length; index += 1) {
      node = this.step(node, units[index] ?? 0);
      const length = this.longest[node] ?? 0;
      if (length === 0) continue;
      const end = index + 1;
      let start = end - length;
      for (let last = spans.at(-1); last !== undefined && last.end > start; last = spans.at(-1)) {
        start = Math.min(start, last.start);
        spans.pop();
      }
      spans.push({ start, end });
    }
    return spans;
  }

  /** Whether any needle is in the text: for the many short ones, in which nothing is. */
  isIn(text: string): boolean {
    if (this.nodes === 1) return false;
    let node = ROOT;
    for (let index = 0; index < text.length; index += 1) {
      node = this.step(node, text.charCodeAt(index));
      if (this.longest[node] !== 0) return true;
    }
    return false;
  }

  private insert(needle: string): void {
    let node = ROOT;
    for (let index = 0; index < needle.length; index += 1) {
      const unit = needle.charCodeAt(index);
      const known = this.child(node, unit);
      node = known === NONE ? this.grow(node, unit) : known;
    }
    if (node !== ROOT) this.longest[node] = needle.length;
  }

  private grow(parent: number, unit: number): number {
    const node = this.nodes;
    this.nodes += 1;
    this.unit[node] = unit;
    const first = this.firstChild[parent] ?? NONE;
    if (parent === ROOT && unit < LATIN_UNITS) this.rootChildren[unit] = node;
    if (first === NONE) {
      this.firstChild[parent] = node;
      return node;
    }
    this.furtherChildren.set(parent * UNITS + unit, node);
    this.nextSibling[node] = this.nextSibling[first] ?? NONE;
    this.nextSibling[first] = node;
    return node;
  }

  private child(node: number, unit: number): number {
    if (node === ROOT && unit < LATIN_UNITS) return this.rootChildren[unit] ?? NONE;
    const first = this.firstChild[node] ?? NONE;
    if (first === NONE || this.unit[first] === unit) return first;
    return this.nextSibling[first] === NONE ? NONE : (this.furtherChildren.get(node * UNITS + unit) ?? NONE);
  }

  private step(from: number, unit: number): number {
    let node = from;
    for (;;) {
      const next = this.child(node, unit);
      if (next !== NONE || node === ROOT) return next;
      node = this.fallback[node] ?? ROOT;
    }
  }

  /** Breadth first: a fallback is shorter than its node, so it is complete by then. */
  private link(): void {
    const queue = new Int32Array(this.nodes);
    let queued = 1;
    for (let head = 0; head < queued; head += 1) {
      const parent = queue[head] ?? ROOT;
      for (let node = this.firstChild[parent] ?? NONE; node !== NONE; node = this.nextSibling[node] ?? NONE) {
        queue[queued] = node;
        queued += 1;
        if (parent === ROOT) continue;
        const fallback = this.step(this.fallback[parent] ?? ROOT, this.unit[node] ?? 0);
        this.fallback[node] = fallback;
        if (this.longest[node] === 0) this.longest[node] = this.longest[fallback] ?? 0;
      }
    }
  }
}
