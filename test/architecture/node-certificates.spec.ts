import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

const isThere = ['bash', 'openssl'].every(
  (tool) => spawnSync(tool, ['version'], { stdio: 'ignore' }).error === undefined,
);
const NODES = ['kurrentdb-1', 'kurrentdb-2', 'kurrentdb-3'];

describe.skipIf(!isThere)(
  `scripts/node-certificates.sh${isThere ? '' : ': bash and openssl are not there, skipped'}`,
  () => {
    let folder: string;

    const make = () =>
      spawnSync('bash', [join(ROOT, 'scripts', 'node-certificates.sh'), folder, String(process.getuid?.())], {
        encoding: 'utf8',
      });
    const certificate = (...path: readonly string[]) => new X509Certificate(readFileSync(join(folder, ...path)));

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'ags-certificates-'));
      expect(make()).toMatchObject({ status: 0, stderr: '' });
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it('makes a CA, and throws its key away', () => {
      const ca = certificate('ca', 'ca.crt');
      expect([ca.ca, ca.verify(ca.publicKey)]).toEqual([true, true]);
      expect(readdirSync(folder).sort()).toEqual(['ca', ...NODES]);
      expect(readdirSync(join(folder, 'ca'))).toEqual(['ca.crt']);
    });

    it.each(NODES)('%s is known by its name, and serves and asks under one that all have', (node) => {
      const made = certificate(node, 'node.crt');
      expect(made.verify(certificate('ca', 'ca.crt').publicKey)).toBe(true);
      expect([made.ca, made.subject]).toEqual([false, 'CN=ags-node']);
      expect([node, 'localhost', 'kurrentdb-9'].map((name) => made.checkHost(name, { subject: 'never' }))).toEqual([
        node,
        'localhost',
        undefined,
      ]);
      // Server and client: without either, nodes of 24.2 and newer refuse each other.
      expect(made.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    });

    it.each(NODES)('the key of %s is for its user alone', (node) => {
      const { mode } = statSync(join(folder, node, 'node.key'));
      expect(mode & 0o777).toBe(0o600);
    });

    it('leaves what is there, and begins anew where it was interrupted', async () => {
      const before = certificate('kurrentdb-1', 'node.crt').fingerprint256;
      expect(make()).toMatchObject({ status: 0, stdout: '' });
      expect(certificate('kurrentdb-1', 'node.crt').fingerprint256).toBe(before);
      await rm(join(folder, 'ca', 'ca.crt'));
      expect(make().status).toBe(0);
      expect(existsSync(join(folder, 'ca', 'ca.crt'))).toBe(true);
      expect(certificate('kurrentdb-1', 'node.crt').fingerprint256).not.toBe(before);
    });
  },
);
