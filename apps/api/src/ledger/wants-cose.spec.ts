import { describe, expect, it } from 'vitest';
import { wantsCose } from './wants-cose.js';

describe('the form of a deed', () => {
  it.each([
    'application/cose',
    'Application/COSE',
    'application/cose; cose-type="cose-sign1"',
    'application/cose;cose-type=cose-sign1;q=0.2',
    'application/cose, */*;q=0.8',
    'application/cose, */*',
    'application/json;q=0.5, application/cose;q=0.9',
    'text/html, application/cose;q=0.001',
  ])('is COSE for Accept: %s', (accept) => {
    expect(wantsCose(accept)).toBe(true);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'application/*',
    'application/json',
    'application/json, application/cose',
    'application/json, application/cose;q=0.9',
    'application/cose;q=0',
    'application/cose;q=0.0, */*',
    'application/cose;q=2',
    'application/cose;q=high',
    'application/cose; cose-type="cose-encrypt0"',
    'application/cose-key',
    'text/html',
    ';;,,=',
  ])('is JSON for Accept: %s', (accept) => {
    expect(wantsCose(accept)).toBe(false);
  });
});
