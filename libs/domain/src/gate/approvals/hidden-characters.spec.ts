import { describe, expect, it } from 'vitest';
import type { ApprovalContext } from './approval-context.js';
import { hiddenCharactersIn } from './hidden-characters.js';

const context = (changes: Partial<ApprovalContext>): ApprovalContext =>
  ({
    args: { note: 'plain', lines: 'a\n\tb' },
    tool: 'pay.refund',
    tool_description: 'Gives money back.',
    agent: { id: 'agt_1', name: 'support-1', labels: {} },
    on_behalf_of: null,
    session: null,
    ...changes,
  }) as unknown as ApprovalContext;

describe('what an approver would not see', () => {
  it('is not there in ordinary text of several lines', () => expect(hiddenCharactersIn(context({}))).toBeNull());

  it.each([
    ['the mark that turns the direction of text', '\u202e'],
    ['a space without width', '\u200b'],
    ['a variation selector', '\ufe0f'],
    ['a variation selector of the supplement', '\u{e0101}'],
    ['the combining grapheme joiner', '\u034f'],
    ['the blank of braille', '\u2800'],
    ['a filler of Hangul', '\u3164'],
    ['a letter of the tags', '\u{e0041}'],
  ])('%s is found', (_title, character) =>
    expect(hiddenCharactersIn(context({ args: { note: `a${character}b` } }))).toBe('args.note'),
  );

  it('is found in the description of the tool', () =>
    expect(hiddenCharactersIn(context({ tool_description: 'Reads\u2800 only' }))).toBe('tool.description'));
});
