import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { KurrentAddress } from '../../config/index.js';
import { NoAnswer } from './kurrent-failures.js';

const LIMIT_MS = 1_000;

/** The certificate of a node is not accepted. */
export class UntrustedNode extends NoAnswer {
  override readonly name = 'UntrustedNode';
  constructor(node: string, why: string) {
    super(
      `the certificate of ${node} is not accepted: ${why}; it must hold that name, not have expired, and be signed by the ` +
        'authority in tlsCAFile',
    );
  }
}

/**
 * Looks for a node whose certificate is not accepted, because the client itself only says that no node told it which
 * one leads. Null if no certificate is the cause.
 */
export const untrustedNode = async ({ nodes, caFile, credentials }: KurrentAddress): Promise<UntrustedNode | null> => {
  if (credentials === null) return null;
  const ca = caFile === null ? undefined : await readFile(caFile).catch(() => undefined);
  const faults = await Promise.all(nodes.map((node) => certificateFault(node, ca)));
  return faults.find((fault) => fault !== null) ?? null;
};

const certificateFault = (
  { host, port }: KurrentAddress['nodes'][number],
  ca: Buffer | undefined,
): Promise<UntrustedNode | null> =>
  new Promise((resolve) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ host, port, ...(ca && { ca }), ...name, ALPNProtocols: ['h2'] });
    const settle = (fault: UntrustedNode | null): void => {
      socket.destroy();
      resolve(fault);
    };
    socket.setTimeout(LIMIT_MS, () => settle(null));
    socket.once('secureConnect', () => settle(null));
    socket.on('error', (error: Error) => {
      // Node sets this before it emits the error if the certificate is the cause.
      const isUntrusted = Boolean(socket.authorizationError);
      settle(isUntrusted ? new UntrustedNode(`${host}:${port}`, error.message) : null);
    });
  });
