import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers';
import { decodeBase64url, EncodingError, encodeBase64url } from '#libs/crypto';
import {
  PASSKEY_ALGS,
  type AssertionAnswer,
  type Expected,
  type PasskeyAlg,
  type PasskeyCredential,
  type RegistrationAnswer,
} from '#libs/domain/people';

/** WebAuthn level 3, section 4: at most 1,023 bytes; a shorter one than 16 could be guessed. */
const CREDENTIAL_BYTES = { min: 16, max: 1_023 } as const;
const CLIENT_DATA_MAX_BYTES = 4_096;
const ATTESTATION_MAX_BYTES = 8_192;
/** 37 bytes and what extensions add, of which none is asked for. */
const AUTHENTICATOR_DATA_MAX_BYTES = 1_024;
const SIGNATURE_MAX_BYTES = 256;

/** What a registration comes to. */
export interface JudgedRegistration {
  readonly made: PasskeyCredential;
  readonly signCount: number;
}

/** @returns null for whatever is wrong */
export const judgeRegistration = (answer: RegistrationAnswer, expected: Expected): Promise<JudgedRegistration | null> =>
  unlessRefused(async () => {
    requireCredential(answer.credential);
    requireFirstParty(answer.clientDataJson);
    requireNoCertificates(decodeBase64url(answer.attestationObject, ATTESTATION_MAX_BYTES));
    const { credential: id, clientDataJson: clientDataJSON, attestationObject } = answer;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON, attestationObject },
      },
      ...expectationsOf(expected),
      supportedAlgorithmIDs: [...PASSKEY_ALGS],
    });
    if (!verified || registrationInfo.credential.id !== id) return null;
    const { publicKey, counter } = registrationInfo.credential;
    return { made: { credential: id, rpId: expected.party.id, ...keyOf(publicKey) }, signCount: counter };
  });

/** @returns null for whatever is wrong */
export const judgeAssertion = (
  answer: AssertionAnswer,
  { credential: id, alg, publicKey }: Pick<PasskeyCredential, 'credential' | 'alg' | 'publicKey'>,
  expected: Expected,
): Promise<{ readonly signCount: number } | null> =>
  unlessRefused(async () => {
    if (answer.credential !== id) return null;
    requireFirstParty(answer.clientDataJson);
    decodeBase64url(answer.authenticatorData, AUTHENTICATOR_DATA_MAX_BYTES);
    decodeBase64url(answer.signature, SIGNATURE_MAX_BYTES);
    const { clientDataJson: clientDataJSON, authenticatorData, signature } = answer;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature },
      },
      ...expectationsOf(expected),
      // A count that fell is said by whoever keeps it, and refuses nothing.
      credential: { id, publicKey: coseOf(alg, publicKey), counter: 0 },
    });
    return verified ? { signCount: authenticationInfo.newCounter } : null;
  });

const expectationsOf = ({ challenge, party }: Expected) => ({
  expectedChallenge: challenge,
  expectedOrigin: party.origin,
  expectedRPID: party.id,
  requireUserVerification: true,
});

/** The answer is a client's: whatever the library or a parser throws over it says that it is not right. */
const unlessRefused = async <Result>(judge: () => Promise<Result | null>): Promise<Result | null> => {
  try {
    return await judge();
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
};

class AnswerRefused extends Error {
  override readonly name = 'AnswerRefused';
}

const requireCredential = (id: string): void => {
  const { byteLength } = decodeBase64url(id, CREDENTIAL_BYTES.max);
  if (byteLength < CREDENTIAL_BYTES.min) throw new EncodingError('not_canonical');
};

/** The library looks at `crossOrigin` only where `topOrigin` stands beside it, and not at all in a registration. */
const requireFirstParty = (clientDataJson: string): void => {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(decodeBase64url(clientDataJson, CLIENT_DATA_MAX_BYTES));
  const { crossOrigin, topOrigin } = JSON.parse(text) as {
    readonly crossOrigin?: unknown;
    readonly topOrigin?: unknown;
  };
  if ((crossOrigin !== undefined && crossOrigin !== false) || topOrigin !== undefined) {
    throw new AnswerRefused('in a frame of another site');
  }
};

/**
 * No attestation was asked for, so a browser sends none, or one that the key itself signed. What has certificates is not even
 * looked at: the library would ask addresses that they name.
 */
const requireNoCertificates = (attestation: Uint8Array): void => {
  const decoded = decodeAttestationObject(new Uint8Array(attestation));
  const format = decoded.get('fmt');
  const isSelfSigned = format === 'packed' && decoded.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isSelfSigned) throw new AnswerRefused('with certificates');
};

/** COSE_Key members of RFC 9053: their numbers. */
const KTY = 1;
const ALG = 3;
const CRV = -1;
const X = -2;
const Y = -3;
const OKP = 1;
const EC2 = 2;
const P256 = 1;
const ED25519 = 6;
const ES256: PasskeyAlg = -7;

/** @throws {Error} where it is no point of the curve that its algorithm has */
const keyOf = (cose: Uint8Array): Pick<PasskeyCredential, 'alg' | 'publicKey'> => {
  const members = decodeCredentialPublicKey(new Uint8Array(cose)) as unknown as ReadonlyMap<number, unknown>;
  const alg = members.get(ALG) as PasskeyAlg;
  const [kty, crv] = [members.get(KTY), members.get(CRV)];
  const isKnown = alg === ES256 ? kty === EC2 && crv === P256 : kty === OKP && crv === ED25519;
  if (!PASSKEY_ALGS.includes(alg) || !isKnown) throw new AnswerRefused('a key of another kind');
  return { alg, publicKey: spkiOf(alg === ES256 ? ecKey(members) : okpKey(members)) };
};

const ecKey = (members: ReadonlyMap<number, unknown>): JsonWebKey => ({
  kty: 'EC',
  crv: 'P-256',
  x: numberAt(members, X),
  y: numberAt(members, Y),
});

const okpKey = (members: ReadonlyMap<number, unknown>): JsonWebKey => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x: numberAt(members, X),
});

const COORDINATE_BYTES = 32;

const numberAt = (members: ReadonlyMap<number, unknown>, label: number): string => {
  const bytes = members.get(label);
  if (bytes instanceof Uint8Array && bytes.byteLength === COORDINATE_BYTES) return encodeBase64url(bytes);
  throw new AnswerRefused('a coordinate of another length');
};

const spkiOf = (key: JsonWebKey): string =>
  encodeBase64url(createPublicKey({ key, format: 'jwk' }).export({ format: 'der', type: 'spki' }));

const SPKI_MAX_BYTES = 128;

/** The way back, for the library: the members in the canonical order of CTAP2. */
const coseOf = (alg: PasskeyAlg, publicKey: string): Uint8Array<ArrayBuffer> => {
  const der = Buffer.from(decodeBase64url(publicKey, SPKI_MAX_BYTES));
  const { x = '', y = '' } = createPublicKey({ key: der, format: 'der', type: 'spki' }).export({ format: 'jwk' });
  const [bytesOfX, bytesOfY] = [Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
  const bytes =
    alg === ES256
      ? [Buffer.from('a5010203262001215820', 'hex'), bytesOfX, Buffer.from('225820', 'hex'), bytesOfY]
      : [Buffer.from('a4010103272006215820', 'hex'), bytesOfX];
  return new Uint8Array(Buffer.concat(bytes));
};
