import { expect, it } from 'vitest';
import { storedText } from './columns.js';

it.each([
  ['plain text', 'plain text'],
  ['a\0b\0', 'a\uFFFDb\uFFFD'],
  ['\uD83D!', '\uFFFD!'],
  ['\uDE00\uD83D', '\uFFFD\uFFFD'],
  ['whole pairs: 😀é', 'whole pairs: 😀é'],
])('%j is stored as %j', (text, stored) => expect(storedText(text)).toBe(stored));
