import { createHmac } from 'node:crypto';

export const SECRET_PREFIX = 'whsec_';

/**
 * `Service-Signature` (rule HOOK-3): one `v1=` for each secret that is valid now. The key is the whole secret as text,
 * its prefix included; the message is the time, a period and the raw bytes of the body.
 * @param secrets their UTF-8 bytes, newest first
 */
export const signatureHeader = (body: Uint8Array, epochSeconds: number, secrets: readonly Uint8Array[]): string => {
  const signatures = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${epochSeconds}.`).update(body).digest('hex')}`,
  );
  return [`t=${epochSeconds}`, ...signatures].join(',');
};
