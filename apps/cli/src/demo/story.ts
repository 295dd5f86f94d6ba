import type { Terminal } from '../terminal.js';

const MARGIN = '     ';

/**
 * Tells what happens, scene by scene. Every sentence about what the service did is a claim that was checked: the demo
 * ends well only when all of them were so.
 */
export class Story {
  private scenes = 0;
  private claims = 0;
  private readonly refuted: string[] = [];

  constructor(private readonly terminal: Terminal) {}

  get claimCount(): number {
    return this.claims;
  }

  get failures(): readonly string[] {
    return this.refuted;
  }

  opening(title: string, text: string): void {
    this.terminal.out(`\n  ${title}\n  ${text}\n`);
  }

  scene(title: string): void {
    this.scenes += 1;
    this.terminal.out(`\n  ${this.scenes}  ${title}\n`);
  }

  /** What is done, or what was answered: no claim. */
  tell(text: string): void {
    this.terminal.out(`${indented(text)}\n`);
  }

  /** What is so. */
  claim(text: string, isSo: boolean): void {
    this.claims += 1;
    if (!isSo) this.refuted.push(text);
    this.terminal.out(`${MARGIN}${isSo ? '✓' : '✗'} ${text}\n`);
  }
}

const WIDTH_CHARACTERS = 96;

/** Lines that fit a terminal, under the scene's title. */
const indented = (text: string): string =>
  text
    .split('\n')
    .flatMap(wrapped)
    .map((line) => `${MARGIN}${line}`)
    .join('\n');

const wrapped = (text: string): readonly string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH_CHARACTERS) {
      lines.push(line);
      line = `  ${word}`;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
};
