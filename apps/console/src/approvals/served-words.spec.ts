import { describe, expect, it } from 'vitest';
import { noteOf, wordsOfServer } from './served-words.ts';

const stored = { digest: 'sha256:1', held: false, stored: true, title: null, description: 'Looks things up.' };
const lost = { ...stored, stored: false, description: null };

describe('what a server says of its tool', () => {
  it('is its title and its description, as far as it says any', () => {
    expect(wordsOfServer(stored)).toBe('Looks things up.');
    expect(wordsOfServer({ ...stored, title: 'Search' })).toBe('Search\nLooks things up.');
    expect(wordsOfServer(lost)).toBe('');
  });

  it('is told to be its own word, whose digest an approval covers', () => {
    expect(noteOf(stored)).toMatch(/own words, which nobody here vouches for. An approval covers their digest.$/);
  });

  it.each([
    ['it says something else by now', { ...stored, held: true }, /covers their digest. By now .* accept that first.$/],
    ['it was lost', lost, /^What the server said of this tool was lost .* its connector.$/],
    ['nobody accepted it', { ...lost, digest: null, held: true }, /^Nobody has accepted .* do that first.$/],
  ])('says that %s, and what to do', (_title, definition, words) => expect(noteOf(definition)).toMatch(words));
});
