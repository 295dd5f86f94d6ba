import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { writtenTerminal } from '../../../test/support/written-terminal.js';
import { present, ProgressLine, terminalOn } from './terminal.js';

/** Back to the beginning of the line, and everything on it away. */
const ANEW = '\r\u001b[K';

describe('a progress line', () => {
  it('is written over in its place, and gone when it is cleared', () => {
    const { terminal, out, err } = writtenTerminal({ isTTY: true });
    const progress = new ProgressLine(terminal);
    progress.show('a longer line');
    progress.show('short');
    expect(err()).toBe(`${ANEW}a longer line${ANEW}short`);
    progress.clear();
    expect(err()).toBe(`${ANEW}a longer line${ANEW}short${ANEW}`);
    expect(out()).toBe('');
  });

  it('is cleared once, and only where it was shown', () => {
    const { terminal, err } = writtenTerminal({ isTTY: true });
    const progress = new ProgressLine(terminal);
    progress.clear();
    expect(err()).toBe('');
    progress.show('one');
    progress.clear();
    progress.clear();
    expect(err()).toBe(`${ANEW}one${ANEW}`);
    progress.show('two');
    expect(err()).toBe(`${ANEW}one${ANEW}${ANEW}two`);
  });

  it('leaves nothing in a file or a pipe, where errors are written all the same', () => {
    const { terminal, out, err } = writtenTerminal({ isTTY: false });
    const progress = new ProgressLine(terminal);
    progress.show('one');
    progress.show('two');
    progress.clear();
    terminal.err('something is wrong\n');
    expect([out(), err()]).toEqual(['', 'something is wrong\n']);
  });

  it.each([true, false])('stays out of what is presented (as JSON: %s)', (isJson) => {
    const { terminal, out } = writtenTerminal({ isTTY: true });
    const progress = new ProgressLine(terminal);
    progress.show('one');
    progress.clear();
    present(terminal, isJson, { objects: [{ object: 'thing' }], text: 'a thing' });
    expect(out()).toBe(isJson ? '{"object":"thing"}\n' : 'a thing\n');
  });
});

describe('what was stored', () => {
  it('gives the terminal no orders, on either stream, and stays the same JSON', () => {
    const { terminal, out, err } = writtenTerminal({ isTTY: true });
    const name = 'a\u001b]0;title\u0007\u009b2J\u007f\rb\tc\r\n';
    present(terminal, false, { objects: [], text: name });
    present(terminal, true, { objects: [{ name }], text: '' });
    terminal.err(name);
    new ProgressLine(terminal).show(name);
    const shown = 'a\\u001b]0;title\\u0007\\u009b2J\\u007f\\u000db\tc\r\n';
    const [text, json] = [out().slice(0, shown.length), out().slice(shown.length + 1)];
    expect([text, err()]).toEqual([shown, `${shown}${ANEW}${shown}`]);
    expect(json).not.toMatch(/[\u007f-\u009f]/);
    expect(JSON.parse(json)).toEqual({ name });
  });
});

describe('a stream that takes nothing', () => {
  const failing = (code: string): Writable =>
    new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) });
  const kept = () => {
    const lines: string[] = [];
    const stream = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) });
    return { stream, lines };
  };

  it.each([
    ['EPIPE', false],
    ['EIO', false],
    ['ENOSPC', true],
  ])('%s as standard output ends it, not the work', async (code, isCut) => {
    const { stream, lines } = kept();
    const terminal = terminalOn(failing(code), stream);
    terminal.out('one\n');
    expect(await terminal.taken()).toBe(true);
    await new Promise(setImmediate);
    terminal.out('two\n');
    expect([await terminal.taken(), terminal.isCut]).toEqual([false, isCut]);
    expect(lines).toEqual(isCut ? [expect.stringContaining('takes no more (ENOSPC)')] : []);
  });

  it('as standard error is told nothing more', async () => {
    const { stream, lines } = kept();
    const terminal = terminalOn(stream, Object.assign(failing('EIO'), { isTTY: true }));
    const progress = new ProgressLine(terminal);
    progress.show('one');
    await new Promise(setImmediate);
    progress.clear();
    terminal.out('the answer\n');
    expect(lines).toEqual(['the answer\n']);
  });
});
