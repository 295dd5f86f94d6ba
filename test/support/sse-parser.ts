/** One message as a browser dispatches it (WHATWG HTML, section 9.2.6). */
export interface SseMessage {
  /** `message` where none was named. */
  readonly type: string;
  readonly data: string;
  /** The last id that was said, by this message or one before. */
  readonly id: string;
}

/**
 * Parses an event stream strictly by WHATWG HTML, in chunks cut anywhere. Beside the messages it keeps what a browser hides:
 * comments and the reconnection time.
 */
export class SseParser {
  readonly comments: string[] = [];
  retryMs: number | null = null;
  /** As the next request would send it. */
  lastEventId = '';
  private readonly decoder = new TextDecoder('utf-8');
  private text = '';
  private type = '';
  private data: string[] = [];
  private idBuffer = '';
  /** A chunk ended with CR: LF at the begin of the next one belongs to that line's end. */
  private isLineFeedPart = false;

  /** The messages that these bytes complete. */
  feed(chunk: Uint8Array): readonly SseMessage[] {
    this.text += this.decoder.decode(chunk, { stream: true });
    if (this.isLineFeedPart && this.text.startsWith('\n')) this.text = this.text.slice(1);
    if (this.text !== '') this.isLineFeedPart = false;
    const messages: SseMessage[] = [];
    for (let line = this.nextLine(); line !== null; line = this.nextLine()) {
      const message = this.take(line);
      if (message !== null) messages.push(message);
    }
    return messages;
  }

  private nextLine(): string | null {
    const end = /\r\n|\n|\r/.exec(this.text);
    if (!end) return null;
    const line = this.text.slice(0, end.index);
    this.text = this.text.slice(end.index + end[0].length);
    this.isLineFeedPart = end[0] === '\r' && this.text === '';
    return line;
  }

  private take(line: string): SseMessage | null {
    if (line === '') return this.dispatch();
    if (line.startsWith(':')) {
      this.comments.push(line.slice(1));
      return null;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.type = value;
    else if (field === 'data') this.data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.idBuffer = value;
    else if (field === 'retry' && /^[0-9]+$/.test(value)) this.retryMs = Number(value);
    return null;
  }

  private dispatch(): SseMessage | null {
    this.lastEventId = this.idBuffer;
    const [type, data] = [this.type, this.data];
    this.type = '';
    this.data = [];
    return data.length === 0
      ? null
      : { type: type === '' ? 'message' : type, data: data.join('\n'), id: this.lastEventId };
  }
}
