import { expect, it } from 'vitest';
import { size } from './sizes.ts';

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [812, '812 bytes'],
  [1_024, '1 KiB'],
  [1_536, '1.5 KiB'],
  [16_777_216, '16 MiB'],
  [1_048_575, '1 MiB'],
  [26_843_546, '26 MiB'],
  [1_610_612_736, '1.5 GiB'],
  [5_000 * 1_024 ** 4, '5000 TiB'],
])('%i bytes are %s', (bytes, words) => expect(size(bytes)).toBe(words));
