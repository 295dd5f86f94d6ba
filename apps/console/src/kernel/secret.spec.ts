import { describe, expect, it } from 'vitest';
import { takeSecret } from './secret.ts';

describe('takeSecret', () => {
  it('splits an answer into its secret and the rest', () => {
    const { secret, rest } = takeSecret({ id: 'key_1', secret: 'svc_live_x' });
    expect(secret).toBe('svc_live_x');
    expect(JSON.stringify(rest)).toBe('{"id":"key_1"}');
  });

  it.each([{ id: 'key_1', secret: null }, { id: 'key_1' }])('finds none in %j', (body) => {
    expect(takeSecret<{ id: string; secret?: string | null }>(body).secret).toBeNull();
  });
});
