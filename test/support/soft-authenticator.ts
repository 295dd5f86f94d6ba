import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { encode } from 'cborg';

/** How a device errs, or a client lies, each in one way. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  /** Of the authenticator data; by default the person was there (0x01) and verified (0x04). */
  readonly flags?: number;
  readonly signCount?: number;
  readonly others?: Readonly<Record<string, unknown>>;
}

const PRESENT_AND_VERIFIED = 0x05;
const HAS_CREDENTIAL = 0x40;

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

type Alg = -7 | -8;

/** A device without hardware that makes passkeys and signs with them, as WebAuthn level 3 has it. */
export class SoftAuthenticator {
  readonly credential: string;
  private readonly key: KeyObject;
  private readonly publicJwk: { readonly x?: string; readonly y?: string };
  signCount = 0;

  constructor(
    private readonly site: { readonly rpId: string; readonly origin: string },
    readonly alg: Alg = -7,
    credential: Uint8Array = randomBytes(32),
  ) {
    const pair = alg === -7 ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
    this.key = createPrivateKey(pair.privateKey.export({ format: 'pem', type: 'pkcs8' }));
    this.publicJwk = pair.publicKey.export({ format: 'jwk' });
    this.spki = base64url(pair.publicKey.export({ format: 'der', type: 'spki' }));
    this.credential = base64url(credential);
  }

  /** What the deed of its registration is to hold. */
  readonly spki: string;

  /** The answer to `POST /v1/passkeys/options`. @param attested how the key is vouched for: by nobody, by itself, or with a certificate */
  register(challenge: string, lies: Lies = {}, attested: 'none' | 'self' | 'certified' = 'none') {
    const client = this.clientData('webauthn.create', challenge, lies);
    const id = Buffer.from(this.credential, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.byteLength);
    const authData = Buffer.concat([
      this.authenticatorData(lies, HAS_CREDENTIAL),
      Buffer.alloc(16),
      length,
      id,
      this.coseKey(),
    ]);
    const sig = this.signed(authData, client);
    const statement = {
      none: { fmt: 'none', attStmt: {} },
      self: { fmt: 'packed', attStmt: { alg: this.alg, sig } },
      certified: { fmt: 'packed', attStmt: { alg: this.alg, sig, x5c: [randomBytes(64)] } },
    }[attested];
    return {
      id: this.credential,
      client_data_json: base64url(client),
      attestation_object: base64url(encode({ ...statement, authData })),
    };
  }

  /** The answer to `POST /v1/auth/passkey/options`. */
  sign(challenge: string, lies: Lies = {}) {
    const client = this.clientData('webauthn.get', challenge, lies);
    const authData = this.authenticatorData(lies, 0);
    return {
      id: this.credential,
      client_data_json: base64url(client),
      authenticator_data: base64url(authData),
      signature: base64url(this.signed(authData, client)),
    };
  }

  private clientData(type: string, challenge: string, lies: Lies): Buffer {
    const { origin } = this.site;
    const said = { type, challenge, origin, crossOrigin: false, ...lies.others };
    const lied = {
      ...(lies.type === undefined ? {} : { type: lies.type }),
      ...(lies.origin === undefined ? {} : { origin: lies.origin }),
      ...(lies.challenge === undefined ? {} : { challenge: lies.challenge }),
    };
    return Buffer.from(JSON.stringify({ ...said, ...lied }));
  }

  private authenticatorData({ rpId, flags, signCount }: Lies, others: number): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(signCount ?? this.signCount);
    return Buffer.concat([
      sha256(rpId ?? this.site.rpId),
      Buffer.from([(flags ?? PRESENT_AND_VERIFIED) | others]),
      count,
    ]);
  }

  private signed(authData: Buffer, client: Buffer): Buffer {
    const message = Buffer.concat([authData, sha256(client)]);
    return sign(this.alg === -7 ? 'sha256' : null, message, this.key);
  }

  private coseKey(): Buffer {
    const [x, y] = [Buffer.from(this.publicJwk.x ?? '', 'base64url'), Buffer.from(this.publicJwk.y ?? '', 'base64url')];
    const members: readonly (readonly [number, number | Buffer])[] =
      this.alg === -7
        ? [
            [1, 2],
            [3, -7],
            [-1, 1],
            [-2, x],
            [-3, y],
          ]
        : [
            [1, 1],
            [3, -8],
            [-1, 6],
            [-2, x],
          ];
    return Buffer.from(encode(new Map<number, number | Buffer>(members)));
  }
}
