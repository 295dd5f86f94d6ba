import { describe, expect, it } from 'vitest';
import { giveBackWhatStartUsed } from './give-back.js';

const garbage = (): WeakRef<object> =>
  new WeakRef({ large: Array.from({ length: 100_000 }, (_, index) => ({ index })) });

describe('the memory that a start used', () => {
  it('is freed once this resolves', async () => {
    const gone = garbage();
    await giveBackWhatStartUsed();
    expect(gone.deref()).toBeUndefined();
  });
});
