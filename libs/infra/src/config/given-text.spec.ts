import { expect, it } from 'vitest';
import { givenText } from './given-text.js';

it('a value comes from the argument, or from the variable that it names', () => {
  const environment = { LOG_URL: 'esdb://log', EMPTY: '' };
  expect(givenText('esdb://here', environment)).toBe('esdb://here');
  expect(givenText('env:LOG_URL', environment)).toBe('esdb://log');
  expect(givenText('env:EMPTY', environment)).toBe(null);
  expect(givenText('env:OTHER', environment)).toBe(null);
});
