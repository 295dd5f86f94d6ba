import { PassThrough } from 'node:stream';
import { type Terminal, terminalOn } from '../../apps/cli/src/terminal.js';

export interface WrittenTerminal {
  readonly terminal: Terminal;
  /** What stands on standard output. */
  readonly out: () => string;
  /** What was written to standard error, control characters included. */
  readonly err: () => string;
}

/** Streams of a process whose standard error is a terminal that somebody watches, or leads elsewhere. */
export const writtenTerminal = ({ isTTY }: { readonly isTTY: boolean }): WrittenTerminal => {
  const [output, messages] = [written(), written()];
  // A stream that is no terminal has no such member.
  const terminal = terminalOn(output.stream, isTTY ? Object.assign(messages.stream, { isTTY }) : messages.stream);
  return { terminal, out: output.text, err: messages.text };
};

const written = (): { readonly stream: PassThrough; readonly text: () => string } => {
  const stream = new PassThrough();
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { stream, text: () => text };
};
