/** Signature type of signed-note: Ed25519 over the text of a note. */
const ED25519 = 0x01;
const KEY_ID_BYTES = 4;

/**
 * The verifier key of a ledger's tree (c2sp.org/signed-note), as witnesses and `verify --checkpoint-key` take it.
 * @param origin the first line of its checkpoints
 * @param publicKey `ed25519:` and 43 characters of base64url, as checkpoint-keys.json has it
 */
export const vkeyOf = async (origin: string, publicKey: string): Promise<string> => {
  const base64 = publicKey
    .replace(/^ed25519:/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const key = [ED25519, ...bytesOfLatin1(atob(base64))];
  const hashed = await crypto.subtle.digest(
    'SHA-256',
    Uint8Array.from([...new TextEncoder().encode(`${origin}\n`), ...key]),
  );
  const id = [...new Uint8Array(hashed).subarray(0, KEY_ID_BYTES)].map((byte) => byte.toString(16).padStart(2, '0'));
  return `${origin}+${id.join('')}+${btoa(String.fromCharCode(...key))}`;
};

const bytesOfLatin1 = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0));
