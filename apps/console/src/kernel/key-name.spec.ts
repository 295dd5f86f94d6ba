import { describe, expect, it } from 'vitest';
import { keyNameIn, withoutKeySecrets } from './key-name.ts';

const ID = `key_0${'1'.repeat(25)}`;
const SECRET = '0123456789abcdefghjkmnpqrstvwxyz';

describe('the name of a key', () => {
  it.each([
    [ID, ID],
    ['svc_live_k3y9prf0', 'svc_live_k3y9prf0'],
    [' svc_test_k3y9prf0… ', 'svc_test_k3y9prf0'],
    ['k3y9prf0', 'k3y9prf0'],
    [`svc_live_k3y9prf0_${SECRET}`, 'svc_live_k3y9prf0'],
    ['svc_live_k3y9prf', null],
    ['customer', null],
    [ID.toUpperCase(), null],
    [`${ID}0`, null],
    ['', null],
  ])('in %j is %j', (text, name) => {
    expect(keyNameIn(text)).toBe(name);
  });

  it('is what withoutKeySecrets leaves of a whole key, anywhere in a text', () => {
    expect(withoutKeySecrets(`svc_live_k3y9prf0_${SECRET}`)).toBe('svc_live_k3y9prf0');
    expect(withoutKeySecrets(`Bearer svc_test_k3y9prf0_${SECRET}!`)).toBe('Bearer svc_test_k3y9prf0!');
    expect(withoutKeySecrets('svc_live_k3y9prf0 crm.get')).toBe('svc_live_k3y9prf0 crm.get');
  });
});
