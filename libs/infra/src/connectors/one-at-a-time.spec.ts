import { expect, it } from 'vitest';

import { OneAtATime } from './one-at-a-time.js';

it('each piece of work begins when the one before it has ended, however it has ended', async () => {
  const line = new OneAtATime();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} begins`);
    await new Promise(setImmediate);
    seen.push(`${name} ends`);
    if (name === 'b') throw new Error('broken');
    return name;
  };
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => line.run(work(name))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});
