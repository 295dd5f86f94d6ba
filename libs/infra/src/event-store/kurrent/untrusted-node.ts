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
 * Looks for a node whose certificate is not accepted, because the client itself only says that no node told it which one
 * leads. A machine that is busy may have no time for a look: then the one before it counts.
 */
export class NodeCertificates {
  private last: UntrustedNode | null = null;

  constructor(private readonly address: KurrentAddress) {}

  /** What a client found; or, where it found nothing and a certificate is the cause, that. */
  async explain<Found>(found: Promise<Found>): Promise<Found> {
    try {
      const channel = await found;
      this.last = null;
      return channel;
    } catch (error) {
      const seen = await this.look();
      if (seen !== 'no time') this.last = seen;
      throw this.last ?? error;
    }
  }

  private async look(): Promise<Look> {
    const { nodes, caFile, credentials } = this.address;
    if (credentials === null) return null;
    const ca = caFile === null ? undefined : await readFile(caFile).catch(() => undefined);
    const looks = await Promise.all(nodes.map((node) => lookAt(node, ca)));
    return looks.find((look) => look instanceof UntrustedNode) ?? looks.find((look) => look !== null) ?? null;
  }
}

type Look = UntrustedNode | 'no time' | null;

const lookAt = ({ host, port }: KurrentAddress['nodes'][number], ca: Buffer | undefined): Promise<Look> =>
  new Promise((resolve) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ host, port, ...(ca && { ca }), ...name, ALPNProtocols: ['h2'] });
    const settle = (look: Look): void => {
      socket.destroy();
      resolve(look);
    };
    socket.setTimeout(LIMIT_MS, () => settle('no time'));
    socket.once('secureConnect', () => settle(null));
    socket.on('error', (error: Error) => {
      // Node sets this before it emits the error if the certificate is the cause.
      const isUntrusted = Boolean(socket.authorizationError);
      settle(isUntrusted ? new UntrustedNode(`${host}:${port}`, error.message) : null);
    });
  });
