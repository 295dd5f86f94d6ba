export const POLICY_SOURCE_MAX_BYTES = 262_144;
export const POLICY_SOURCE_MAX_LINES = 5_000;

/** A text and where its lines begin. */
export class SourceText {
  private readonly lineStarts: readonly number[];

  constructor(readonly text: string) {
    const starts = [0];
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.lineStarts = starts;
  }

  get lineCount(): number {
    return this.lineStarts.length;
  }

  /** Of a UTF-16 offset: line and column from 1, the column in characters. */
  positionAt(offset: number): { readonly line: number; readonly column: number } {
    const line = this.lineIndexAt(offset);
    let column = 1;
    for (let at = this.lineStart(line); at < offset; at += 1) {
      if (!isSecondHalf(this.text.charCodeAt(at))) column += 1;
    }
    return { line: line + 1, column };
  }

  /** Index from 0 of the line that holds the offset. */
  lineIndexAt(offset: number): number {
    let low = 0;
    let high = this.lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lineStart(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  lineStart(index: number): number {
    return this.lineStarts[index] ?? this.text.length;
  }

  /** Without its line ending. */
  lineAt(index: number): string {
    return this.text.slice(this.lineStart(index), this.lineStart(index + 1)).replace(/\r?\n$/, '');
  }
}

/** Low surrogates: the second UTF-16 unit of one character. */
const isSecondHalf = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Whether the UTF-8 form exceeds the limit; answered from the length alone where that is enough. */
export const isTooLarge = (text: string): boolean =>
  text.length > POLICY_SOURCE_MAX_BYTES || new TextEncoder().encode(text).length > POLICY_SOURCE_MAX_BYTES;
