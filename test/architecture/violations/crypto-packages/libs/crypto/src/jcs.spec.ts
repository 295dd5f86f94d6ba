import { test } from 'vitest';

test('a test may use any tool', () => {});
