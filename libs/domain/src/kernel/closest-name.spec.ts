import { describe, expect, it } from 'vitest';
import { closestName } from './closest-name.js';

describe('the closest name', () => {
  it.each([
    ['stat', ['agent', 'state'], 'state'],
    ['sttae', ['agent', 'state'], 'state'],
    ['limits', ['limit', 'limited'], 'limit'],
    ['colour', ['agent', 'state'], null],
    ['statuses', ['state'], null],
    ['', ['q'], null],
    ['zz', ['q'], null],
    ['foo', ['tool'], null],
    ['too', ['tool'], 'tool'],
    ['cursors', ['cursor'], 'cursor'],
    ['crusorr', ['cursor'], null],
  ])('to %j of %j is %j', (name, known, meant) => expect(closestName(name, known)).toBe(meant));

  it('is the first of several that are as close', () => expect(closestName('tes', ['test', 'tess'])).toBe('test'));

  it('is within the edits that are allowed, two neighbours that changed places being one', () => {
    expect(closestName('PROT', ['PORT'], 1)).toBe('PORT');
    expect(closestName('ROOT', ['PORT'], 1)).toBe(null);
    expect(closestName('ROOTED', ['PORTED'], 2)).toBe('PORTED');
  });

  it('is found quickly among names of any length', () => {
    const long = 'x'.repeat(1_000_000);
    expect(closestName(long, ['state', 'agent'])).toBe(null);
  });
});
