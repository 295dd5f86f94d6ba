/** The example of docs/deed-format.md, as a reader would check it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

import {
  decodeBase64url,
  type Digest,
  digestOf,
  encodeDeedCose,
  isDeedCoseSigned,
  parseDeedBody,
  parsePublicKeyText,
  sealFault,
  verifyBundle,
} from '#libs/crypto';
import type { EventEnvelope } from '#libs/domain/kernel';
import { adminActOf } from '#libs/domain/ledger';

import { encodeDeedLine } from '../../libs/crypto/src/bundle-format.js';
import { gzipOf, keyFrom, streamOf, tarOf } from '../../libs/crypto/src/testing/given-chain.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/deed-format.md', import.meta.url)), 'utf8');
const example = page.slice(page.indexOf('## An example with real values'));
const [body = '', manifest = '', keys = ''] = [...example.matchAll(/```json\n(.*?)\n```/gs)].map(([, text]) => text);
const value = (name: string): string => new RegExp(`^${name} +(\\S+)$`, 'm').exec(example)?.[1] ?? '';

const bytes = Buffer.from(body);
const key = parsePublicKeyText(value('text'));
const seal = {
  bodyHash: value('body_hash') as Digest,
  kid: value('kid'),
  signature: value('signature'),
};
const cose = { kid: seal.kid, body: bytes, coseSignature: value('cose_signature') };

describe('the example of the deed format', () => {
  it('names a key by its bytes, text, fingerprint and kid', () => {
    expect(keyFrom('example').publicKey.text).toBe(key.text);
    expect(Buffer.from(key.bytes).toString('hex')).toBe(value('public bytes'));
    expect(key.fingerprint).toBe(value('fingerprint'));
    expect(key.kid).toBe(value('kid'));
  });

  it('is a body of 716 bytes with its hash and both signatures', async () => {
    expect(bytes).toHaveLength(716);
    expect(digestOf(bytes)).toBe(seal.bodyHash);
    expect(parseDeedBody(bytes).seq).toBe(1);
    expect(sealFault(bytes, seal, key)).toBeNull();
    expect(isDeedCoseSigned(cose, key)).toBe(true);
  });

  it('names what was done, and to what, in the words of the service', () => {
    const { admin, org } = parseDeedBody(bytes);
    const created = { org, name: 'Example', timezone: 'UTC', owner: 'usr_01j9z3k4m5n6p7q8r9s0t1v2w3', at: '' };
    const act = adminActOf({ event: { type: 'OrganizationCreated', data: created } } as unknown as EventEnvelope);
    expect({ action: admin?.action, target: admin?.target }).toEqual({ action: act?.action, target: act?.target });
  });

  it('has the COSE form that is printed, byte by byte', () => {
    const message = Buffer.from(encodeDeedCose(cose));
    expect(`${message.toString('hex').slice(0, 80)}…`).toBe(value('COSE form'));
    const frame = [Buffer.from(`d28455a201270450${seal.kid}a05902cc`, 'hex'), bytes, Buffer.from('5840', 'hex')];
    expect(message.equals(Buffer.concat([...frame, decodeBase64url(cose.coseSignature, 64)]))).toBe(true);
  });

  it('is an intact bundle with its manifest and keys', async () => {
    const deeds = encodeDeedLine({ seq: 1, body: bytes, seal });
    const tar = tarOf([
      ['manifest.json', Buffer.from(manifest)],
      ['keys.json', Buffer.from(keys)],
      ['deeds.ndjson', deeds],
    ]);
    const org = parseDeedBody(bytes).org;
    const verdict = await verifyBundle(streamOf([await gzipOf(tar)]), { org, pins: [value('fingerprint')] });
    expect(verdict).toMatchObject({ result: 'intact', deeds: 1 });
  });
});
