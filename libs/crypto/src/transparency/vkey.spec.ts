import { describe, expect, it } from 'vitest';

import { EncodingError } from '../base64url.js';
import { bytesOf, logKey, pqWitness, reasonOf, vkeyText, witness } from '../testing/given-witnessed.js';
import { decodeBase64, encodeBase64 } from './base64.js';
import { isKeyName } from './key-name.js';
import { encodeVkey, isSameKey, parseVkey, SIGNATURE_TYPE, VkeyError, vkeyOf } from './vkey.js';

const refusal = (text: string): string => reasonOf(VkeyError, () => parseVkey(text));

describe('base64', () => {
  // RFC 4648 section 10.
  it.each([
    ['', ''],
    ['f', 'Zg=='],
    ['fo', 'Zm8='],
    ['foo', 'Zm9v'],
    ['foob', 'Zm9vYg=='],
    ['fooba', 'Zm9vYmE='],
    ['foobar', 'Zm9vYmFy'],
  ])('%j is %j', (text, encoded) => {
    expect(encodeBase64(bytesOf(text))).toBe(encoded);
    expect(decodeBase64(encoded, 6)).toEqual(bytesOf(text));
  });

  it.each([
    ['Zg', 'alphabet'],
    ['Zg=', 'alphabet'],
    ['Zg===', 'alphabet'],
    ['Zm9v=', 'alphabet'],
    ['Zg==Zg==', 'alphabet'],
    ['Z===', 'alphabet'],
    ['====', 'alphabet'],
    ['Zm9v\n', 'alphabet'],
    ['Zm-v', 'alphabet'],
    ['Zm_v', 'alphabet'],
    ['Zh==', 'not_canonical'],
    ['Zm9=', 'not_canonical'],
    ['A'.repeat(92), 'too_large'],
  ])('%j has a better spelling or none: %s', (text, reason) => {
    expect(reasonOf(EncodingError, () => decodeBase64(text, 64))).toBe(reason);
  });

  it('has both characters that base64url spells differently', () => {
    expect(encodeBase64(Uint8Array.of(0xfb, 0xef, 0xff))).toBe('++//');
    expect(decodeBase64('++//', 3)).toEqual(Uint8Array.of(0xfb, 0xef, 0xff));
  });
});

describe('key names', () => {
  it.each(['a', 'example.com/log42', 'oid/1.3.6.1', 'é', '名', 'a\u00adb', 'a\ufeffb'])('%j names a key', (name) => {
    expect(isKeyName(name)).toBe(true);
  });

  it.each([
    '',
    ' ',
    'a b',
    'a+b',
    'a\u00a0b',
    'a\u2028b',
    'a\u3000b',
    'a\u0085b',
    'a\tb',
    'a\nb',
    'a\rb',
    'a\0b',
    '\ud800',
  ])('%j names none', (name) => {
    expect(isKeyName(name)).toBe(false);
  });
});

describe('verifier keys', () => {
  const EXAMPLE = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';

  it('the example of signed-note comes out byte for byte', () => {
    const vkey = parseVkey(EXAMPLE);
    expect(vkey).toMatchObject({ keyName: 'example.com/foo', keyId: 0x530d903a, type: 0x01 });
    expect(encodeVkey(vkey)).toBe(EXAMPLE);
  });

  it.each([logKey(), witness('witness.example/w1'), pqWitness('witness.example/w1')].map(vkeyText))('%.40s', (text) => {
    expect(encodeVkey(parseVkey(text))).toBe(text);
  });

  it('the same key and name have another id for each type', () => {
    const bytes = parseVkey(EXAMPLE).publicKey;
    const asNote = vkeyOf('example.com/foo', SIGNATURE_TYPE.ed25519, bytes);
    const asCosigner = vkeyOf('example.com/foo', SIGNATURE_TYPE.ed25519Cosignature, bytes);
    expect(asNote.keyId).not.toBe(asCosigner.keyId);
    expect(isSameKey(asNote, asCosigner)).toBe(true);
    expect(isSameKey(asNote, logKey().vkey)).toBe(false);
  });

  const base64Of = (...bytes: readonly number[]): string => encodeBase64(Uint8Array.from(bytes));

  it.each([
    ['nothing', '', 'form'],
    ['one part', 'example.com/foo', 'form'],
    ['two parts', 'example.com/foo+530d903a', 'form'],
    ['no key', 'example.com/foo+530d903a+', 'form'],
    ['an id in upper case', EXAMPLE.replace('530d903a', '530D903A'), 'form'],
    ['an id of seven digits', EXAMPLE.replace('530d903a', '530d903'), 'form'],
    ['an id of nine digits', EXAMPLE.replace('530d903a', '0530d903a'), 'form'],
    ['another id', EXAMPLE.replace('530d903a', '530d903b'), 'key_id'],
    ['another name', EXAMPLE.replace('foo', 'bar'), 'key_id'],
    ['no name', EXAMPLE.replace('example.com/foo', ''), 'key_name'],
    ['a name with a space', EXAMPLE.replace('/', ' '), 'key_name'],
    ['a newline at the end', `${EXAMPLE}\n`, 'form'],
    ['a byte less', EXAMPLE.slice(0, -4), 'public_key'],
    ['a byte more', `${EXAMPLE}AA==`, 'public_key'],
    ['the identity point', `example.com/foo+00000000+${base64Of(1, 1, ...Array<number>(31).fill(0))}`, 'public_key'],
    ['ECDSA', `example.com/foo+00000000+${base64Of(2, 1, 2, 3)}`, 'signature_type'],
    [
      'an RFC 6962 tree head',
      `example.com/foo+00000000+${base64Of(5, ...Array<number>(32).fill(0))}`,
      'signature_type',
    ],
    [
      'ML-DSA-44 of another length',
      `example.com/foo+00000000+${base64Of(6, ...Array<number>(1_311).fill(0))}`,
      'public_key',
    ],
    ['one that is huge', `${'a'.repeat(5_000)}+530d903a+AekyeRrm`, 'form'],
  ])('%s is refused', (_, text, reason) => {
    expect(refusal(text)).toBe(reason);
  });
});
