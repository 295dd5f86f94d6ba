import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Where a command's words go. Standard output carries what was asked for and nothing else. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Resolves when standard output has taken what was written: a slow reader slows the work. False once nobody reads. */
  taken(): Promise<boolean>;
  /** Whether a person watches standard error: only then is progress shown. */
  readonly isWatched: boolean;
  /** Whether a person watches standard output. Elsewhere it may be kept, as a log is, and no first secrets go there. */
  readonly isShown: boolean;
}

export interface StreamTerminal extends Terminal {
  /** Whether standard output lacks what somebody would have read: a full disk. */
  readonly isCut: boolean;
}

/** Standard output or standard error, which may be a terminal. */
type Stream = Writable & { readonly isTTY?: boolean };

/** On this process's streams. */
export const processTerminal = (): StreamTerminal => terminalOn(process.stdout, process.stderr);

/** A reader that has seen enough (`| head`), and a terminal that was closed. */
const READER_IS_GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO']);

/** To the begin of the line, and empty it. */
const LINE_ANEW = '\r\u001b[K';

/** All but what ends a line, and tabs: C0, DEL and C1. */
const CONTROL = /(?![\t\n]|\r\n)\p{Cc}/gu;

/**
 * What was stored, by whomever and however long ago, gives the terminal no orders: a control character is shown as JSON spells it,
 * and so JSON stays the same JSON.
 */
const shown = (text: string): string =>
  text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Whoever reads no more, or a full disk, ends the output, not the work: that comes to its own end. */
export const terminalOn = (output: Stream, messages: Stream): StreamTerminal => {
  let isOutputOpen = true;
  let isCut = false;
  const err = (text: string): void => {
    const isProgress = text.startsWith(LINE_ANEW);
    messages.write(isProgress ? `${LINE_ANEW}${shown(text.slice(LINE_ANEW.length))}` : shown(text));
  };
  // Nobody is there to be told.
  messages.on('error', () => undefined);
  output.on('error', (error: NodeJS.ErrnoException) => {
    isOutputOpen = false;
    if (READER_IS_GONE.has(error.code)) return;
    isCut = true;
    err(`Standard output takes no more (${error.code ?? error.message}): it is incomplete. Run it again.\n`);
  });
  return {
    out: (text) => {
      if (isOutputOpen) output.write(shown(text));
    },
    err,
    taken: async () => {
      while (isOutputOpen && output.writableNeedDrain) await once(output, 'drain').catch(() => undefined);
      return isOutputOpen;
    },
    get isCut() {
      return isCut;
    },
    isWatched: messages.isTTY === true,
    isShown: output.isTTY === true,
  };
};

/** What a command answers: one object a line for a program, or a text for a person. */
export interface Answer {
  readonly objects: readonly object[];
  readonly text: string;
}

export const present = (terminal: Terminal, isJson: boolean, { objects, text }: Answer): void => {
  terminal.out(isJson ? objects.map((object) => `${JSON.stringify(object)}\n`).join('') : `${text}\n`);
};

/** A line that is written over as the work goes on, for whoever watches; nothing in a file or a pipe. */
export class ProgressLine {
  private isShown = false;

  constructor(private readonly terminal: Terminal) {}

  show(text: string): void {
    if (!this.terminal.isWatched) return;
    this.isShown = true;
    this.terminal.err(`${LINE_ANEW}${text}`);
  }

  clear(): void {
    if (this.isShown) this.terminal.err(LINE_ANEW);
    this.isShown = false;
  }
}

const BAR_CHARACTERS = 24;

/** How far something is, 0 to 1, and through how many of `things` it went. */
export const barText = (what: string, share: number, count: number, things: 'events' | 'rows' | 'actions'): string => {
  const done = Math.round(share * BAR_CHARACTERS);
  const bar = `${'#'.repeat(done)}${'.'.repeat(BAR_CHARACTERS - done)}`;
  return `${what.padEnd(10)} [${bar}] ${Math.floor(share * 100)} %, ${count.toLocaleString('en')} ${things}`;
};

const COLUMN_GAP = '  ';

/** Rows under a heading, columns aligned. */
export const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  return [heading, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(COLUMN_GAP)
        .trimEnd(),
    )
    .join('\n');
};

/** `label  value` lines, aligned. */
export const facts = (pairs: readonly (readonly [label: string, value: string])[]): string => {
  const width = Math.max(...pairs.map(([label]) => label.length));
  return pairs.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`).join('\n');
};
