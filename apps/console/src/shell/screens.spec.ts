import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SCREENS } from './screens.ts';

it.each(SCREENS)('$name is described by a page of docs/', ({ docs }) => {
  expect(existsSync(new URL(`../../../../docs/${docs}.md`, import.meta.url))).toBe(true);
});
