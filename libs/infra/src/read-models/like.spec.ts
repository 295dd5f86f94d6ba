import { describe, expect, it } from 'vitest';
import { likeContaining, likeGlob } from './like.js';

describe('like patterns', () => {
  it('turn every star of a glob into any run of characters', () => {
    expect(likeGlob('crm.*_customer*')).toBe('crm.%\\_customer%');
  });

  it('keep the metacharacters of LIKE as characters', () => {
    expect(likeContaining('50%_\\')).toBe('%50\\%\\_\\\\%');
    expect(likeGlob('50%_\\')).toBe('50\\%\\_\\\\');
  });

  it('look for U+0000 as it is stored', () => {
    expect(likeContaining('a\0b')).toBe('%a\uFFFDb%');
  });
});
