import { describe, expect, it } from 'vitest';
import { Story } from './story.js';

const telling = () => {
  let said = '';
  const story = new Story({
    out: (text) => (said += text),
    err: (text) => (said += text),
    taken: () => Promise.resolve(true),
    isWatched: false,
    isShown: false,
  });
  return { story, said: () => said };
};

describe('Story', () => {
  it('counts its claims and remembers those that are not so', () => {
    const { story, said } = telling();
    story.scene('One');
    story.claim('water is wet', true);
    story.claim('the moon is cheese', false);
    expect(story.claimCount).toBe(2);
    expect(story.failures).toEqual(['the moon is cheese']);
    expect(said()).toContain('✓ water is wet');
    expect(said()).toContain('✗ the moon is cheese');
  });

  it('wraps what it tells, and breaks no word', () => {
    const { story, said } = telling();
    const word = 'x'.repeat(120);
    story.tell(`${'a few words '.repeat(20)}${word}`);
    const lines = said().trimEnd().split('\n');
    expect(lines.filter((line) => line.length > 110)).toEqual([`       ${word}`]);
    expect(said().replace(/\s+/g, ' ').trim()).toBe(`${'a few words '.repeat(20)}${word}`);
  });
});
