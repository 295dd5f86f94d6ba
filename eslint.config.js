// The rules of the tree that a program can check. Direction rules stand in .dependency-cruiser.cjs, formatting is
// prettier's. test/architecture/lint-rules.long.spec.ts plants a violation of every restriction that is our own.
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const TESTS = ['**/*.spec.ts', '**/testing/**/*.ts', 'test/**/*.ts'];
/** What a browser runs, in two languages. */
const CONSOLE = ['apps/{console,verifier}/**/*.{ts,tsx}'];
const MAX_CONSTRUCTOR_PARAMETERS = 5;

// ESLint replaces the options of a rule where several blocks name it, so each block below spells out its whole list.
const EVERYWHERE = [
  {
    selector: 'CatchClause > BlockStatement[body.length=0]',
    message: 'An error is handled, translated or reported: a catch is never empty.',
  },
  {
    selector: 'CallExpression[callee.object.name="vi"][callee.property.name=/^wait(For|Until)$/][arguments.length=1]',
    message: 'A busy machine takes longer than the second that it would wait: say how long.',
  },
  {
    selector:
      'Property:matches([key.name="rejectUnauthorized"], [key.value="rejectUnauthorized"])[value.value=false], Literal[value="NODE_TLS_REJECT_UNAUTHORIZED"], Identifier[name="NODE_TLS_REJECT_UNAUTHORIZED"]',
    message: 'Certificates are always checked.',
  },
  {
    selector: `MethodDefinition[kind="constructor"] > FunctionExpression[params.length>${MAX_CONSTRUCTOR_PARAMETERS}]`,
    message: `A class that needs more than ${MAX_CONSTRUCTOR_PARAMETERS} things does more than one.`,
  },
  {
    selector:
      ':matches(ClassDeclaration, TSInterfaceDeclaration, TSTypeAliasDeclaration)[id.name=/(Manager|Helper|Helpers|Util|Utils|Data|Info)$/]',
    message: 'Name it by what it is: Manager, Helper, Util, Data and Info say nothing.',
  },
];

const ENVIRONMENT = [
  {
    selector: 'MemberExpression[object.name="process"][property.name="env"]',
    message: 'Settings are read once, in libs/infra/src/config.',
  },
];

const DATABASE_CLIENTS = [
  {
    selector: 'NewExpression[callee.object.name="pg"][callee.property.name=/^(Client|Pool)$/]',
    message:
      'A connection is a DatabaseClient or comes from a pool of libs/infra/src/postgres: with limits, and SCRAM.',
  },
];

const BROWSER = [
  {
    selector: ':matches(Identifier[name=/^(localStorage|sessionStorage|indexedDB)$/])',
    message: 'The browser keeps preferences and nothing else: kernel/preferences.ts.',
  },
  {
    selector:
      'JSXAttribute[name.name="dangerouslySetInnerHTML"], MemberExpression[property.name=/^(innerHTML|outerHTML)$/]',
    message: 'What agents say is text: nothing of it becomes markup.',
  },
];

/** Not in the queries.ts of a context, nor in the Console's kernel. */
const QUERIES = [
  {
    selector:
      'Property[key.name="queryFn"], Property[key.name="queryKey"] > ArrayExpression, CallExpression[callee.property.name=/^(get|set)Query(Data|State)$/] > ArrayExpression:first-child',
    message:
      'A query is made in the queries.ts of its context, by query(), everyOf() or pagesOf() of kernel/query.ts, which derive its key from its route; elsewhere it is imported.',
  },
];

const INVALIDATION = [
  {
    selector: 'CallExpression[callee.property.name="invalidateQueries"][arguments.length>0]',
    message: 'A mutation names the contexts that it changed: useChanged() of kernel/refresh.ts.',
  },
];

const CAPABILITY = '[key.name=/^(can|has|stores|supports)[A-Z]/]';

/** A question what an adapter can do spreads to every caller of its port, in whatever way it is put. */
const CAPABILITIES = [
  `:matches(MethodDefinition, TSAbstractMethodDefinition, TSMethodSignature)${CAPABILITY}:matches([kind="get"], [returnType.typeAnnotation.type="TSBooleanKeyword"], [value.returnType.typeAnnotation.type="TSBooleanKeyword"])`,
  `:matches(PropertyDefinition, TSAbstractPropertyDefinition)${CAPABILITY}`,
  // Interfaces are rows and answers, too, of which `has…` tells something: `hasMore`.
  'TSPropertySignature[key.name=/^(can|stores|supports)[A-Z]/]',
].map((selector) => ({
  selector,
  message:
    'A port does not say what its adapters can do. Make a port with two implementations, and choose between them where the deployment is wired (docs/adr/0028).',
}));

const CLOCK_AND_CHANCE = [
  {
    selector:
      'MemberExpression[object.name=/^(Date|performance)$/][property.name="now"], MemberExpression[object.name="process"][property.name="hrtime"]',
    message: 'Time comes with the command or from the Clock port.',
  },
  {
    selector: 'NewExpression[callee.name="Date"][arguments.length=0], CallExpression[callee.name="Date"]',
    message: 'Time comes with the command or from the Clock port; new Date(ms) converts and is fine.',
  },
  {
    selector: 'MemberExpression[object.name="Math"][property.name="random"]',
    message: 'Chance comes from the Randomness port.',
  },
];

const UNFINISHED_TESTS = [
  {
    selector:
      'MemberExpression[object.name=/^(describe|it|test)$/][property.name=/^(only|skip|todo|fails)$/], CallExpression[callee.name=/^(xit|xdescribe|fit|fdescribe)$/]',
    message: 'A test runs, or says with skipIf what it waits for.',
  },
];

const imports = (...paths) => ['error', { paths }];

const ENVIRONMENT_IMPORTS = ['process', 'node:process'].map((name) => ({
  name,
  importNames: ['env', 'default'],
  message: 'Settings are read once, in libs/infra/src/config.',
}));

const FACT_IMPORTS = [
  {
    name: '@nestjs/cqrs',
    importNames: ['AggregateRoot', 'EventBus', 'EventPublisher', 'EventsHandler', 'Saga'],
    message: 'Facts leave through the event store alone: an event without a handler is dropped silently there.',
  },
  { name: '@nestjs/event-emitter', message: 'Facts leave through the event store alone.' },
];

const EMITTER_IMPORTS = ['events', 'node:events'].map((name) => ({
  name,
  importNames: ['EventEmitter', 'default'],
  message: 'Facts leave through the event store; wake-ups go through the Bus port.',
}));

const HTTP_EXCEPTION_IMPORTS = [
  {
    name: '@nestjs/common',
    importNames: [
      'HttpException',
      'BadRequestException',
      'ConflictException',
      'ForbiddenException',
      'GoneException',
      'InternalServerErrorException',
      'MethodNotAllowedException',
      'NotFoundException',
      'PayloadTooLargeException',
      'ServiceUnavailableException',
      'UnauthorizedException',
      'UnprocessableEntityException',
      'UnsupportedMediaTypeException',
    ],
    message: 'Throw DomainError with a code of the catalogue; one filter builds the envelope.',
  },
];

const CHANCE_IMPORTS = ['crypto', 'node:crypto'].map((name) => ({
  name,
  importNames: ['getRandomValues', 'randomBytes', 'randomFill', 'randomFillSync', 'randomInt', 'randomUUID'],
  message: 'Chance comes from the Randomness port.',
}));

/** Faults of plain JavaScript that the TypeScript compiler does not report. */
const LANGUAGE_RULES = {
  'array-callback-return': 'error',
  'default-case-last': 'error',
  eqeqeq: 'error',
  'for-direction': 'error',
  'no-async-promise-executor': 'error',
  'no-compare-neg-zero': 'error',
  'no-cond-assign': 'error',
  'no-constant-binary-expression': 'error',
  'no-constant-condition': ['error', { checkLoops: 'allExceptWhileTrue' }],
  'no-constructor-return': 'error',
  'no-control-regex': 'off',
  'no-debugger': 'error',
  'no-dupe-else-if': 'error',
  'no-duplicate-case': 'error',
  'no-empty': 'error',
  'no-empty-pattern': 'error',
  'no-eval': 'error',
  'no-ex-assign': 'error',
  'no-extra-boolean-cast': 'error',
  'no-fallthrough': 'error',
  'no-invalid-regexp': 'error',
  'no-irregular-whitespace': 'error',
  'no-loss-of-precision': 'error',
  'no-misleading-character-class': 'error',
  'no-new-wrappers': 'error',
  'no-param-reassign': 'error',
  'no-prototype-builtins': 'error',
  'no-return-assign': 'error',
  'no-self-assign': 'error',
  'no-self-compare': 'error',
  'no-sequences': 'error',
  'no-sparse-arrays': 'error',
  'no-template-curly-in-string': 'error',
  'no-unreachable-loop': 'error',
  'no-unsafe-finally': 'error',
  'no-unsafe-optional-chaining': 'error',
  'no-useless-backreference': 'error',
  'no-useless-catch': 'error',
  'no-useless-escape': 'error',
  'no-useless-rename': 'error',
  'no-var': 'error',
  'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'], location: 'anywhere' }],
  'object-shorthand': ['error', 'always', { avoidExplicitReturnArrows: false }],
  'prefer-const': 'error',
  'use-isnan': 'error',
  'valid-typeof': 'error',
};

/** Sizes of the style guide. `modified` counts a switch once: `evolve` has a case for each event. */
const SIZE_RULES = {
  complexity: ['error', { max: 20, variant: 'modified' }],
  'max-depth': ['error', 4],
  'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
  'max-lines-per-function': ['error', { max: 70, skipBlankLines: false, skipComments: false, IIFEs: true }],
};

const TYPE_RULES = {
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/no-deprecated': 'error',
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'all' }],
  // A port is asynchronous even where an adapter has nothing to wait for.
  '@typescript-eslint/require-await': 'off',
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  // Inside try, a promise that is returned without await leaves its catch behind.
  '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
};

const IN_A_BROWSER = [
  ...['addEventListener', 'document', 'history', 'location', 'navigator', 'scrollBy', 'IntersectionObserver'],
  ...['AbortSignal', 'URLSearchParams', 'atob', 'btoa', 'clearTimeout', 'fetch', 'setTimeout'],
];

export default defineConfig(
  {
    ignores: [
      'dist/',
      'coverage/',
      '.service/',
      'test/architecture/violations/',
      'apps/console/src/kernel/{api.d,contract}.ts',
    ],
  },
  // A rule that is wrong here is changed here, for all: comments cannot switch one off.
  { linterOptions: { noInlineConfig: true, reportUnusedInlineConfigs: 'error' } },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: { Buffer: 'readonly', console: 'readonly', process: 'readonly', URL: 'readonly' },
    },
    rules: {
      ...LANGUAGE_RULES,
      ...SIZE_RULES,
      'no-undef': 'error',
      'no-unused-vars': 'error',
      'no-restricted-syntax': ['error', ...EVERYWHERE],
    },
  },
  {
    // What a browser runs as it stands.
    files: ['apps/api/src/pages/**/*.js'],
    languageOptions: { globals: Object.fromEntries(IN_A_BROWSER.map((name) => [name, 'readonly'])) },
  },
  {
    files: ['scripts/console-work.mjs', 'test/mcp/conformance/serve.mjs'],
    languageOptions: { globals: { fetch: 'readonly' } },
  },
  {
    files: ['apps/console/*.js'],
    languageOptions: { globals: { document: 'readonly', localStorage: 'readonly' } },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { sourceType: 'commonjs', globals: { __dirname: 'readonly' } },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommended, tseslint.configs.recommendedTypeCheckedOnly],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: { ...LANGUAGE_RULES, ...SIZE_RULES, ...TYPE_RULES },
  },
  {
    files: ['{apps,libs}/**/*.ts'],
    rules: {
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...EVERYWHERE, ...ENVIRONMENT, ...DATABASE_CLIENTS],
      '@typescript-eslint/no-restricted-imports': imports(
        ...ENVIRONMENT_IMPORTS,
        ...FACT_IMPORTS,
        ...EMITTER_IMPORTS,
        ...HTTP_EXCEPTION_IMPORTS,
      ),
    },
  },
  {
    files: CONSOLE,
    rules: {
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...EVERYWHERE, ...BROWSER, ...QUERIES, ...INVALIDATION],
    },
  },
  {
    files: ['apps/console/src/*/queries.ts'],
    rules: { 'no-restricted-syntax': ['error', ...EVERYWHERE, ...BROWSER, ...INVALIDATION] },
  },
  {
    files: ['apps/console/src/kernel/*.{ts,tsx}'],
    rules: { 'no-restricted-syntax': ['error', ...EVERYWHERE, ...BROWSER] },
  },
  {
    files: ['apps/console/src/kernel/preferences.ts'],
    rules: { 'no-restricted-syntax': ['error', ...EVERYWHERE] },
  },
  {
    files: ['libs/{domain,crypto,evidence}/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...EVERYWHERE, ...ENVIRONMENT, ...CLOCK_AND_CHANCE],
    },
  },
  {
    files: ['libs/domain/**/*.port.ts', 'libs/domain/**/*.ports.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...EVERYWHERE, ...ENVIRONMENT, ...CLOCK_AND_CHANCE, ...CAPABILITIES],
    },
  },
  {
    files: ['libs/domain/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': imports(
        ...ENVIRONMENT_IMPORTS,
        ...FACT_IMPORTS,
        ...EMITTER_IMPORTS,
        ...HTTP_EXCEPTION_IMPORTS,
        ...CHANCE_IMPORTS,
      ),
    },
  },
  {
    // The one place that reads the environment.
    files: ['libs/infra/src/config/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...EVERYWHERE],
      '@typescript-eslint/no-restricted-imports': imports(
        ...FACT_IMPORTS,
        ...EMITTER_IMPORTS,
        ...HTTP_EXCEPTION_IMPORTS,
      ),
    },
  },
  {
    files: ['libs/infra/src/postgres/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...EVERYWHERE, ...ENVIRONMENT] },
  },
  {
    // The envelope is built here, also from what Nest itself throws.
    files: ['apps/api/src/http/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': imports(...ENVIRONMENT_IMPORTS, ...FACT_IMPORTS, ...EMITTER_IMPORTS),
    },
  },
  {
    files: TESTS,
    rules: {
      'no-console': 'off',
      'no-restricted-syntax': ['error', ...EVERYWHERE, ...UNFINISHED_TESTS],
      '@typescript-eslint/no-restricted-imports': imports(...FACT_IMPORTS),
      // A suite is one function around its tests.
      'max-lines-per-function': 'off',
      // What an answer holds is what a test is there to find out: a wrong shape fails its expectation.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
);
