import { describe, expect, it } from 'vitest';
import { queryText } from './query-text.ts';

describe('a query', () => {
  it('has a list as one comma list, because the API refuses a name that is sent twice', () =>
    expect(queryText({ status: ['new', 'changed'], limit: 50 })).toBe('status=new,changed&limit=50'));

  it('has each value by itself under a name that ends in []', () =>
    expect(queryText({ 'expand[]': ['usage', 'keys'], q: 'a&b' })).toBe('q=a%26b&expand[]=usage&expand[]=keys'));

  it('leaves out what is not asked', () => expect(queryText({ status: [], q: undefined })).toBe(''));
});
