import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { signatureHeader } from './signature.js';

const [ONE, TWO] = [Buffer.from('whsec_one'), Buffer.from('whsec_two')];
const BODY = Buffer.from('{"text":"Grüße \\u0000"}');
const hmac = (secret: Uint8Array, message: string): string =>
  createHmac('sha256', secret).update(message).digest('hex');

it('signs the time, a period and the raw body under the whole secret, once for each that is valid', () => {
  const message = `1790000000.${BODY.toString()}`;
  expect(signatureHeader(BODY, 1_790_000_000, [ONE])).toBe(`t=1790000000,v1=${hmac(ONE, message)}`);
  expect(signatureHeader(BODY, 1_790_000_000, [TWO, ONE])).toBe(
    `t=1790000000,v1=${hmac(TWO, message)},v1=${hmac(ONE, message)}`,
  );
});

it('is what another language makes of it', () => {
  // hmac.new(b'whsec_test', b'1.{}', hashlib.sha256).hexdigest() in Python.
  const known = '7500d5d4be4b3ef07af1fe56f7d522d135cdaa7530de557e67cc1049c52de094';
  expect(signatureHeader(Buffer.from('{}'), 1, [Buffer.from('whsec_test')])).toBe(`t=1,v1=${known}`);
});
