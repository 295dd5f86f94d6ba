import { parsePublicKey, type SigningKey } from '../ed25519.js';
import { ed25519Cosignature, isEd25519Cosignature, isMlDsa44Cosignature, mlDsa44Cosignature } from './cosignature.js';
import type { MlDsa44SigningKey } from './ml-dsa-44.js';
import type { NoteSigner, NoteVerifier } from './signed-note.js';
import { utf8 } from './strict-text.js';
import { SIGNATURE_TYPE, type Vkey, vkeyOf } from './vkey.js';

/** A verifier key that verifies: what its type byte means is decided here and nowhere else. */
export interface KnownKey extends NoteVerifier {
  readonly vkey: Vkey;
}

/** The verifier of a key. For a type of cosignature every text that is no checkpoint is not signed. */
export const knownKey = (vkey: Vkey): KnownKey => {
  const { keyName, keyId } = vkey;
  return { vkey, keyName, keyId, verify: verification(vkey) };
};

const verification = (vkey: Vkey): NoteVerifier['verify'] => {
  switch (vkey.type) {
    case SIGNATURE_TYPE.ed25519: {
      const key = parsePublicKey(vkey.publicKey);
      return (text, signature) => key.verify(utf8(text), signature);
    }
    case SIGNATURE_TYPE.ed25519Cosignature: {
      const key = parsePublicKey(vkey.publicKey);
      return (text, signature) => isEd25519Cosignature(key, text, signature);
    }
    case SIGNATURE_TYPE.mlDsa44Cosignature:
      return (text, signature) => isMlDsa44Cosignature(vkey, text, signature);
  }
};

/** A key that signs, and its vkey, which is what others configure. */
export interface SigningNoteKey extends NoteSigner {
  readonly vkey: Vkey;
}

const signing = (vkey: Vkey, sign: NoteSigner['sign']): SigningNoteKey => ({
  vkey,
  keyName: vkey.keyName,
  keyId: vkey.keyId,
  sign,
});

/** A log's key, or another signer of notes: Ed25519 over the text (type 0x01). Throws `VkeyError` for a name that is none. */
export const ed25519NoteSigner = (keyName: string, key: SigningKey): SigningNoteKey =>
  signing(vkeyOf(keyName, SIGNATURE_TYPE.ed25519, key.publicKey.bytes), (text) => key.sign(utf8(text)));

/** A witness's Ed25519 key (type 0x04), at a time in POSIX seconds. It must be used under no other name. */
export const ed25519Cosigner = (keyName: string, key: SigningKey, timestamp: number): SigningNoteKey =>
  signing(vkeyOf(keyName, SIGNATURE_TYPE.ed25519Cosignature, key.publicKey.bytes), (text) =>
    ed25519Cosignature(key, text, timestamp),
  );

/** A witness's ML-DSA-44 key (type 0x06), at a time in POSIX seconds. */
export const mlDsa44Cosigner = (keyName: string, key: MlDsa44SigningKey, timestamp: number): SigningNoteKey =>
  signing(vkeyOf(keyName, SIGNATURE_TYPE.mlDsa44Cosignature, key.publicKey), (text) =>
    mlDsa44Cosignature(keyName, key, text, timestamp),
  );
