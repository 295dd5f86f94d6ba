/**
 * The fingerprint of a seal key, as `verify --pin` takes it: SHA-256 over the key's 32 bytes.
 * @param publicKey `ed25519:` and 43 characters of base64url, as keys.json has it
 * @returns `sha256:` and 64 hex digits
 */
export const fingerprintOf = async (publicKey: string): Promise<string> => {
  const base64 = publicKey
    .replace(/^ed25519:/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return `sha256:${[...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
};
