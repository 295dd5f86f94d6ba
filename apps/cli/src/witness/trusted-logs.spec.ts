import { describe, expect, it } from 'vitest';
import { ed25519Cosigner, encodeVkey, SigningKey } from '#libs/crypto';
import { newLog, ORG, ORIGIN } from './testing/given-log.js';
import { parseTrustedLog, parseTrustedService, TrustedLogs, TrustError } from './trusted-logs.js';

const log = newLog();
const text = log.key.publicKey.text;

const known = (prefix: string, origin: string): number =>
  new TrustedLogs([], [parseTrustedService(prefix, text)]).keysOf(origin).length;

describe('--log', () => {
  it('knows the origin that the verifier key names, and no other', () => {
    const logs = new TrustedLogs([parseTrustedLog(encodeVkey(log.signer.vkey))], []);
    expect([logs.keysOf(ORIGIN).length, logs.keysOf(`${ORIGIN}0`).length]).toEqual([1, 0]);
  });

  it('knows several keys of one log while they are rotated', () => {
    const logs = new TrustedLogs([log.signer.vkey, newLog().signer.vkey], []);
    expect(logs.keysOf(ORIGIN).length).toBe(2);
  });

  it('refuses what is no verifier key, and the key of a witness', () => {
    const witness = encodeVkey(ed25519Cosigner('witness.example/w1', SigningKey.generate(), 1).vkey);
    for (const bad of ['', ORIGIN, `${encodeVkey(log.signer.vkey)}x`, witness]) {
      expect(() => parseTrustedLog(bad)).toThrow(TrustError);
    }
  });
});

describe('--trust', () => {
  it.each(['governance.example', 'governance.example/ledger', 'governance.example/ledger/'])(
    'knows every organization of the service below %s',
    (prefix) => {
      expect(known(prefix, ORIGIN)).toBe(1);
    },
  );

  it.each(['/1', '/12', '/1790856002'])(
    'knows the next tree of an organization whose break was accepted: %s',
    (number) => {
      expect(known('governance.example', `${ORIGIN}${number}`)).toBe(1);
    },
  );

  it('takes the one key under the name of each origin', () => {
    const [key] = new TrustedLogs([], [parseTrustedService('governance.example', text)]).keysOf(ORIGIN);
    expect(key?.vkey).toEqual(log.signer.vkey);
  });

  it('takes the key out of the verifier key of one of the logs, too', () => {
    const service = parseTrustedService('governance.example', encodeVkey(log.signer.vkey));
    expect(service).toEqual(parseTrustedService('governance.example', text));
  });

  it.each([
    `governance.example.evil/ledger/${ORG}`,
    `evil/governance.example/ledger/${ORG}`,
    `governance.example/ledger/${ORG}/more`,
    `governance.example/ledger/${ORG}/0`,
    `governance.example/ledger/${ORG}/${'9'.repeat(17)}`,
    `governance.example/ledger/${ORG}/1/2`,
    `governance.example/ledger/${ORG} `,
    `governance.example/other/${ORG}`,
    'governance.example/ledger/anything',
    'governance.example/ledger/',
    `governance.example/ledger/../ledger/${ORG.slice(0, -1)}`,
    `governance.example/${'x'.repeat(250)}/ledger/${ORG}`,
  ])('does not know %s', (origin) => {
    expect(known('governance.example', origin)).toBe(0);
  });

  it('refuses a URL for a host, and what is no key', () => {
    for (const bad of ['https://governance.example', '', '/', 'a b']) {
      expect(() => parseTrustedService(bad, text)).toThrow(TrustError);
    }
    const witness = encodeVkey(ed25519Cosigner('witness.example/w1', SigningKey.generate(), 1).vkey);
    for (const bad of ['', 'ed25519:AAAA', text.slice(0, -1), witness]) {
      expect(() => parseTrustedService('governance.example', bad)).toThrow(TrustError);
    }
  });
});
