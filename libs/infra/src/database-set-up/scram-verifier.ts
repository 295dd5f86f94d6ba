import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** PostgreSQL's own number. */
const ITERATIONS = 4_096;
const SALT_BYTES = 16;
const SECRET_BYTES = 24;

/** ASCII alone, so that no form of Unicode stands between two programs. */
export const newPassword = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** What PostgreSQL keeps of a password (RFC 5803), so that its statement, which servers may log, holds no password. */
export const scramVerifier = (password: string, salt: Buffer = randomBytes(SALT_BYTES)): string => {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`;
};
