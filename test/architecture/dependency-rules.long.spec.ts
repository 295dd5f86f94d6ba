import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(dirname(HERE));
const VIOLATIONS = join(HERE, 'violations');
const CONFIG = join(ROOT, '.dependency-cruiser.cjs');

const { forbidden } = createRequire(import.meta.url)(CONFIG) as { forbidden: readonly { readonly name: string }[] };
/** One rule may stand there once for each context. */
const RULES = [...new Set(forbidden.map(({ name }) => name))].sort();

/**
 * What each planted tree breaks, `from → to`, and nothing else there: the allowed imports that stand beside them show
 * that the rule does not fire too often. Packages are named by their folder.
 */
const PLANTED: Readonly<Record<string, readonly string[]>> = {
  'crypto-stands-alone': ['libs/crypto/src/seal.ts → libs/domain/src/gate/index.ts'],
  'crypto-packages': ['libs/crypto/src/jcs.ts → yaml'],
  'evidence-knows-crypto-alone': [
    'libs/evidence/src/page.ts → crypto',
    'libs/evidence/src/page.ts → libs/domain/src/gate/index.ts',
  ],
  'domain-knows-no-adapter': [
    'libs/domain/src/gate/handlers/submit-action.handler.ts → @nestjs/platform-fastify',
    'libs/domain/src/gate/load-action.ts → fastify',
    'libs/domain/src/gate/load-action.ts → libs/infra/src/event-store/index.ts',
    'libs/domain/src/gate/load-action.ts → pg',
    'libs/domain/src/gate/load-action.ts → typeorm',
  ],
  'domain-does-no-io': [
    'libs/domain/src/gate/read-settings.ts → fs/promises',
    'libs/domain/src/gate/read-settings.ts → net',
  ],
  'domain-knows-no-engine': ['libs/domain/src/kernel/heap.ts → v8'],
  'pure-core': [
    'libs/domain/src/gate/action.commands.ts → crypto',
    'libs/domain/src/gate/action.decider.ts → crypto',
    'libs/domain/src/gate/action.events.ts → rxjs',
    'libs/domain/src/gate/action.process.ts → timers/promises',
    'libs/domain/src/gate/action.state.ts → yaml',
    'libs/domain/src/gate/action.upcasters.ts → rxjs',
    'libs/domain/src/gate/action/action.decider.ts → crypto',
  ],
  'nest-only-in-handlers': [
    'libs/domain/src/gate/gate.ts → @nestjs/common',
    'libs/domain/src/kernel/clock.port.ts → @nestjs/common',
  ],
  'context-by-its-index': [
    'libs/domain/src/gate/judge.ts → libs/domain/src/policies/handlers/index.ts',
    'libs/domain/src/gate/judge.ts → libs/domain/src/policies/policy.state.ts',
  ],
  'gate-contexts-by-their-doors': [
    'libs/domain/src/gate/approvals/review.ts → libs/domain/src/gate/action/action.state.ts',
  ],
  'gate-arrows-go-down': ['libs/domain/src/gate/action/brief.ts → libs/domain/src/gate/approvals/index.ts'],
  'libs-by-their-doors': [
    'apps/api/src/gate/gate.module.ts → libs/domain/src/gate/action.decider.ts',
    'libs/infra/src/vault/open-secret.ts → libs/crypto/src/ed25519.ts',
    'libs/infra/src/vault/open-secret.ts → libs/domain/src/kernel/clock.port.ts',
  ],
  'connector-types-are-islands': [
    'apps/api/src/gate/gate.module.ts → libs/domain/src/connectors/rest/index.ts',
    'libs/domain/src/connectors/chat/chat-type.ts → libs/domain/src/connectors/rest/rest-type.ts',
    'libs/infra/src/connectors/chat/chat-driver.ts → libs/domain/src/connectors/rest/index.ts',
  ],
  'infra-by-its-index': [
    'apps/worker/src/worker.module.ts → libs/infra/src/event-store/postgres/appender.ts',
    'apps/worker/src/worker.module.ts → libs/infra/src/event-store/postgres/index.ts',
    'libs/infra/src/vault/secrets.ts → libs/infra/src/postgres/pools.ts',
  ],
  'infra-below-apps': ['libs/infra/src/http/server.ts → apps/api/src/app.module.ts'],
  'apps-are-islands': ['apps/worker/src/worker.module.ts → apps/api/src/app.module.ts'],
  'console-knows-the-api-alone': [
    'apps/console/src/kernel/client.ts → libs/crypto/src/index.ts',
    'apps/console/src/kernel/screen.tsx → libs/crypto/src/index.ts',
  ],
  'console-judges-proofs-alone': ['apps/console/src/ledger/verifier.ts → libs/evidence/src/index.ts'],
  'standalone-composes-modules': [
    'apps/standalone/src/main.ts → apps/api/src/gate/gate.module.ts',
    'apps/standalone/src/main.ts → apps/api/src/http/error-envelope.filter.ts',
    'apps/standalone/src/main.ts → apps/cli/src/cli.module.ts',
  ],
  'standalone-is-a-root': [
    'apps/api/src/main.ts → apps/standalone/src/main.ts',
    'test/e2e/start.e2e.spec.ts → apps/standalone/src/main.ts',
  ],
  'shipped-code-knows-no-test': [
    'apps/cli/src/demo/main.ts → test/support/upstream.ts',
    'libs/crypto/src/deed-chain.ts → libs/crypto/src/testing/given-chain.ts',
    'libs/infra/src/vault/open-secret.ts → libs/infra/src/vault/testing/given-secret.ts',
    'libs/infra/src/vault/secrets.ts → libs/infra/src/vault/secrets.spec.ts',
  ],
  'shipped-code-needs-no-tool': ['libs/infra/src/config/validate.ts → ajv'],
  'witness-stands-alone': [
    'apps/cli/src/witness/witness.ts → apps/cli/src/terminal.ts',
    'apps/cli/src/witness/witness.ts → libs/infra/src/config/index.ts',
  ],
  'no-cycle': [
    // One violation for the whole circle.
    'libs/domain/src/gate/action.ts → libs/domain/src/gate/approval.ts',
  ],
  'every-import-resolves': [
    'libs/domain/src/gate/action.ts → #libs/domain/gone',
    'libs/domain/src/gate/action.ts → ./lost.js',
  ],
};

/** The cruise of `npm run deps`, over the tree at `directory`. */
const cruised = async (directory: string): Promise<ICruiseResult> => {
  const tops = (await readdir(directory)).filter((name) => ['apps', 'libs', 'test'].includes(name));
  const options = { ...(await extractOptions(CONFIG)), baseDir: directory };
  const { output } = await cruise(tops, options, undefined, { tsConfig: extractTsConfig(join(ROOT, 'tsconfig.json')) });
  if (typeof output === 'string') throw new Error(`The cruiser answered with text: ${output}`);
  return output;
};

const packageOrPath = (resolved: string): string =>
  /node_modules\/(?:@types\/)?((?:@[^/]+\/)?[^/]+)\//.exec(resolved)?.[1] ?? resolved;

const broken = ({ summary }: ICruiseResult): readonly string[] =>
  summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${packageOrPath(to)}`).sort();

describe('direction rules', () => {
  let planted: string;

  beforeAll(async () => {
    // Beside their own package.json and node_modules the planted trees resolve `#libs/...` as the real tree does.
    planted = await mkdtemp(join(tmpdir(), 'violations-'));
    await cp(VIOLATIONS, planted, { recursive: true });
    for (const rule of await readdir(VIOLATIONS)) {
      await cp(join(ROOT, 'package.json'), join(planted, rule, 'package.json'));
      await symlink(join(ROOT, 'node_modules'), join(planted, rule, 'node_modules'), 'dir');
    }
  });

  afterAll(async () => {
    await rm(planted, { recursive: true, force: true });
  });

  it('every rule has a planted violation, and every planted violation a rule', async () => {
    expect((await readdir(VIOLATIONS)).sort()).toEqual(RULES);
    expect(Object.keys(PLANTED).sort()).toEqual(RULES);
  });

  it.each(RULES)('%s fires on its planted violation and nowhere else', async (rule) => {
    expect(broken(await cruised(join(planted, rule)))).toEqual(
      [...(PLANTED[rule] ?? [])].map((violation) => `${rule}: ${violation}`).sort(),
    );
  });

  it('the real tree breaks none, and its #libs imports are followed into the sources', async () => {
    const real = await cruised(ROOT);
    const followed = real.modules
      .flatMap(({ dependencies }) => dependencies)
      .filter(({ module }) => module.startsWith('#libs/'));
    expect(broken(real)).toEqual([]);
    expect(followed.length).toBeGreaterThan(0);
    expect(followed.filter(({ resolved }) => !/^libs\/.*\.ts$/.test(resolved))).toEqual([]);
  });

  it('apps/standalone holds only its main.ts', async () => {
    expect(await readdir(join(ROOT, 'apps', 'standalone', 'src'), { recursive: true })).toEqual(['main.ts']);
  });
});
