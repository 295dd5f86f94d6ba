import { test } from 'vitest';

test('a spec of a pure file is no pure file', () => {});
