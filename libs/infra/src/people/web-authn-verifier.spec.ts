import { randomBytes } from 'node:crypto';
import type * as SimpleWebAuthn from '@simplewebauthn/server';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type Lies, SoftAuthenticator } from '../../../../test/support/soft-authenticator.js';
import { WebAuthnVerifier } from './web-authn-verifier.js';

/** How many registrations the library was asked to judge. */
const library = vi.hoisted(() => ({ asked: 0 }));
vi.mock('@simplewebauthn/server', async (original) => {
  const real = await original<typeof SimpleWebAuthn>();
  return {
    ...real,
    verifyRegistrationResponse: (options: Parameters<typeof real.verifyRegistrationResponse>[0]) => {
      library.asked += 1;
      return real.verifyRegistrationResponse(options);
    },
  };
});

// The verifier loads the library at its first use: another spec of the same process may have made it do so before.
beforeAll(() => {
  vi.resetModules();
});

const SITE = { rpId: 'ags.example.com', origin: 'https://ags.example.com' };
const party = { id: SITE.rpId, origin: SITE.origin };
const challenge = 'c'.repeat(43);
const expected = { challenge, party };
const verifier = new WebAuthnVerifier();

type Registration = ReturnType<SoftAuthenticator['register']>;
const registered = ({ id, client_data_json, attestation_object }: Registration, of = expected) =>
  verifier.registered({ credential: id, clientDataJson: client_data_json, attestationObject: attestation_object }, of);

type Assertion = ReturnType<SoftAuthenticator['sign']>;
const asserted = (
  { id, client_data_json, authenticator_data, signature }: Assertion,
  device: SoftAuthenticator,
  publicKey = device.spki,
) =>
  verifier.asserted(
    {
      ...{ credential: id, clientDataJson: client_data_json, userHandle: null },
      ...{ authenticatorData: authenticator_data, signature },
    },
    { credential: device.credential, alg: device.alg, publicKey },
    expected,
  );

/** Each in one way. */
const LIES: readonly (readonly [string, Lies])[] = [
  ['another site', { rpId: 'evil.example.com' }],
  ['the parent domain', { rpId: 'example.com' }],
  ['a page of another origin', { origin: 'https://evil.example.com' }],
  ['a page at another port', { origin: 'https://ags.example.com:444' }],
  ['a page without https', { origin: 'http://ags.example.com' }],
  ['nobody verified', { flags: 0x01 }],
  ['nobody there', { flags: 0x04 }],
  ['another challenge', { challenge: 'd'.repeat(43) }],
  ['another ceremony', { type: 'payment.get' }],
  ['a page in a frame of another site', { others: { crossOrigin: true } }],
  ['a page that tells who frames it', { others: { topOrigin: 'https://evil.example.com' } }],
];

/** The text with another last byte, or first one. */
const tampered = (text: string, at: number): string => {
  const bytes = Buffer.from(text, 'base64url');
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] as number) ^ 1;
  return bytes.toString('base64url');
};

describe.each([-7, -8] as const)('a passkey of algorithm %i', (alg) => {
  it('is made by its device, and known by its public key as one text', async () => {
    const device = new SoftAuthenticator(SITE, alg);
    expect(await registered(device.register(challenge))).toEqual({
      made: { credential: device.credential, alg, publicKey: device.spki, rpId: SITE.rpId },
      signCount: 0,
    });
  });

  it('signs, and tells how often it did', async () => {
    const device = new SoftAuthenticator(SITE, alg);
    expect(await asserted(device.sign(challenge, { signCount: 7 }), device)).toEqual({ signCount: 7 });
    // That the count fell is for whoever keeps it to say.
    expect(await asserted(device.sign(challenge, { signCount: 3 }), device)).toEqual({ signCount: 3 });
  });

  it.each(LIES)('is refused where the answer is of %s', async (_what, lies) => {
    const device = new SoftAuthenticator(SITE, alg);
    expect(await registered(device.register(challenge, lies))).toBe(null);
    expect(await asserted(device.sign(challenge, lies), device)).toBe(null);
  });

  it('may vouch for itself, and by nothing that needs a certificate', async () => {
    const device = new SoftAuthenticator(SITE, alg);
    expect(await registered(device.register(challenge, {}, 'self'))).toMatchObject({ made: { alg } });
    const { asked } = library;
    expect(asked).toBeGreaterThan(0);
    expect(await registered(device.register(challenge, {}, 'certified'))).toBe(null);
    // It would ask the addresses that a certificate names whether it was revoked.
    expect(library.asked).toBe(asked);
    const answer = device.register(challenge, {}, 'self');
    const other = { ...answer, client_data_json: device.register(challenge, { others: { a: 1 } }).client_data_json };
    expect(await registered(other)).toBe(null);
  });

  it('is refused with one bit changed, in each part of the answer', async () => {
    const device = new SoftAuthenticator(SITE, alg);
    const answer = device.sign(challenge);
    for (const part of ['client_data_json', 'authenticator_data', 'signature'] as const) {
      for (const at of [0, -1]) {
        expect(await asserted({ ...answer, [part]: tampered(answer[part], at) }, device), `${part} ${at}`).toBe(null);
      }
    }
    expect(await asserted({ ...answer, id: tampered(answer.id, 0) }, device)).toBe(null);
  });

  it('signs for nobody else', async () => {
    const [device, other] = [new SoftAuthenticator(SITE, alg), new SoftAuthenticator(SITE, alg)];
    expect(await asserted(device.sign(challenge), device, other.spki)).toBe(null);
  });
});

describe('an answer', () => {
  it('is refused where a registration is sent as a signature, and the other way round', async () => {
    const device = new SoftAuthenticator(SITE);
    const [made, signed] = [device.register(challenge), device.sign(challenge)];
    expect(await registered({ ...made, client_data_json: signed.client_data_json })).toBe(null);
    expect(await asserted({ ...signed, client_data_json: made.client_data_json }, device)).toBe(null);
  });

  it('is refused under another credential id than the device attests', async () => {
    const [device, other] = [new SoftAuthenticator(SITE), new SoftAuthenticator(SITE)];
    expect(await registered({ ...device.register(challenge), id: other.credential })).toBe(null);
  });

  it.each([
    ['shorter than 16 bytes', 15],
    ['longer than 1,023 bytes', 1_024],
  ])('is refused with a credential id that is %s', async (_what, length) => {
    const device = new SoftAuthenticator(SITE, -7, randomBytes(length));
    expect(await registered(device.register(challenge))).toBe(null);
  });

  it.each([
    ['nothing', ''],
    ['no base64url', '?!'],
    ['a second spelling', 'AAB'],
    ['no CBOR', base64('not cbor at all')],
    ['a list in a list in a list', base64(Buffer.alloc(6_000, 0x81))],
    ['half a map', base64(Buffer.from('a363666d74646e6f6e65', 'hex'))],
    ['a text that claims 4 GB', base64(Buffer.from('7affffffff41', 'hex'))],
    ['more than 8 KiB', base64(Buffer.alloc(8_193, 0x41))],
  ])('is refused, and throws nothing, where the attestation is %s', async (_what, attestation) => {
    const device = new SoftAuthenticator(SITE);
    expect(await registered({ ...device.register(challenge), attestation_object: attestation })).toBe(null);
  });

  it.each([
    ['nothing', ''],
    ['null', base64('null')],
    ['a number', base64('1')],
    ['deep', base64('['.repeat(3_000))],
    ['not UTF-8', base64(Buffer.from([0xff, 0xfe]))],
    ['more than 4 KiB', base64(`{"challenge":"${challenge}","pad":"${'x'.repeat(4_096)}"}`)],
  ])('is refused, and throws nothing, where the client data are %s', async (_what, data) => {
    const device = new SoftAuthenticator(SITE);
    expect(await registered({ ...device.register(challenge), client_data_json: data })).toBe(null);
    expect(await asserted({ ...device.sign(challenge), client_data_json: data }, device)).toBe(null);
  });
});

function base64(data: string | Uint8Array): string {
  return Buffer.from(data as string).toString('base64url');
}
