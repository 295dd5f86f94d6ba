import { describe, expect, it } from 'vitest';
import { callerFolder } from './caller-folder.js';

describe('the folder of the caller', () => {
  it('is the one that npm was called in', () =>
    expect(callerFolder('ags', { npm_lifecycle_event: 'ags', INIT_CWD: '/home/someone' })).toBe('/home/someone'));

  it.each([
    ['a program started by itself', {}],
    ['a program that another script of npm started', { npm_lifecycle_event: 'test', INIT_CWD: '/home/someone' }],
    ['an npm that does not say', { npm_lifecycle_event: 'ags' }],
    ['an npm that says nothing', { npm_lifecycle_event: 'ags', INIT_CWD: '' }],
  ])('is the working folder of %s', (_, environment) => expect(callerFolder('ags', environment)).toBe(process.cwd()));
});
