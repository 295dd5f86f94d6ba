/** Why a Redis cannot be used, and what to do about it. */
export interface RedisFault {
  readonly fault: string;
  readonly next: string;
  /** Whether it serves all the same. */
  readonly isUsed: boolean;
}

const REFUSED_LOGIN = /\b(?:WRONGPASS|NOAUTH|NOPERM)\b|^ERR (?:AUTH|Client sent AUTH|invalid password)/i;
const REFUSED_DATABASE = /DB index is out of range|SELECT is not allowed/i;
/** Codes that Node gives to a certificate it does not believe. */
const UNTRUSTED = /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|HOSTNAME_MISMATCH/;

/** What a server or the way to it said, or did not say. */
export const redisFaultOf = ({ code, message }: NodeJS.ErrnoException): RedisFault => {
  if (REFUSED_LOGIN.test(message)) {
    return {
      fault: `Redis refuses the login (${message})`,
      next: 'Put the user and the password that this server knows into REDIS_URL, percent-encoded; the user must be allowed every command.',
      isUsed: false,
    };
  }
  if (REFUSED_DATABASE.test(message)) {
    return {
      fault: `Redis does not have the database that REDIS_URL names, and another is used (${message})`,
      next: 'End REDIS_URL in the number of a database that the server has, or in none.',
      isUsed: true,
    };
  }
  if (code !== undefined && UNTRUSTED.test(code)) {
    return {
      fault: `Redis shows a certificate that is not trusted here (${code})`,
      next: 'Start every process with NODE_EXTRA_CA_CERTS naming the file of the CA that signed it, and let REDIS_URL name the host as the certificate does.',
      isUsed: false,
    };
  }
  return {
    fault: `Redis does not answer (${code ?? message})`,
    next: 'Look at REDIS_URL (rediss:// where the server speaks TLS, redis:// where it does not), and whether the server runs and is reached from here.',
    isUsed: false,
  };
};
