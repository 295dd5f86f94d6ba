import { describe, expect, it } from 'vitest';
import { undescribed } from './rest-path.ts';

describe('what stands in a path and is not described yet', () => {
  it.each([
    ['/customers/{id}', [], ['id']],
    ['/customers/{id}/notes/{note}', ['id'], ['note']],
    ['/a/{id}/b/{id}', [], ['id']],
    ['/a/x{id}', [], []],
    ['/a/{', [], []],
  ])('%s, with %j described: %j', (path, described, missing) => expect(undescribed(path, described)).toEqual(missing));
});
