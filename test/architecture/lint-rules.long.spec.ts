import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const DOMAIN = 'libs/domain/src/gate/action/action.decider.ts';
const CRYPTO = 'libs/crypto/src/seal.ts';
const ADAPTER = 'libs/infra/src/vault/secrets.ts';
const CONFIG = 'libs/infra/src/config/config.schema.ts';
const FILTER = 'apps/api/src/http/error-envelope.filter.ts';
const CONTROLLER = 'apps/api/src/gate/submit-action.controller.ts';
const SPEC = 'libs/domain/src/gate/action/action.decider.spec.ts';
const CONSOLE = 'apps/console/src/kernel/client.ts';
const CONSOLE_VIEW = 'apps/console/src/kit/kit.tsx';
const CONSOLE_QUERIES = 'apps/console/src/agents/queries.ts';
const CONSOLE_SCREEN = 'apps/console/src/agents/agent-screen.tsx';
const PREFERENCES = 'apps/console/src/kernel/preferences.ts';
const PORT = 'libs/domain/src/kernel/planted.port.ts';
const EXISTING = 'libs/domain/src/kernel/clock.port.ts';

// Rules about syntax need no types, so that the planted text may stand in a file that does not exist.
const syntactic = new ESLint({ cwd: ROOT, overrideConfig: tseslint.configs.disableTypeChecked });
const typed = new ESLint({ cwd: ROOT });

const rulesBroken = async (eslint: ESLint, path: string, code: string): Promise<readonly string[]> => {
  const results = await eslint.lintText(code, { filePath: join(ROOT, path) });
  return results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => ruleId ?? message));
};

const SYNTAX = 'no-restricted-syntax';
const IMPORTS = '@typescript-eslint/no-restricted-imports';
const used = (name: string): string => `\nexport const used = ${name};\n`;
const portWith = (member: string): string => `\nexport abstract class Port { ${member} }\n`;
const interfaceWith = (member: string): string => `\nexport interface Port { ${member} }\n`;
const lines = (count: number): string => 'export {};\n'.repeat(count);

const REFUSED: readonly (readonly [title: string, path: string, code: string, rule: string])[] = [
  ['the domain reads no clock', DOMAIN, used('Date.now()'), SYNTAX],
  ['the domain makes no date of now', DOMAIN, used('new Date()'), SYNTAX],
  ['the domain makes no text of now', DOMAIN, used('Date()'), SYNTAX],
  ['the domain measures no time', DOMAIN, used('performance.now()'), SYNTAX],
  ['a port does not say what its adapters can do', PORT, portWith('abstract get canRequire(): boolean;'), SYNTAX],
  ['nor by a field', PORT, portWith('abstract readonly hasPayloads: boolean;'), SYNTAX],
  ['nor by a field with a default', PORT, portWith('readonly canRequire: boolean = false;'), SYNTAX],
  ['nor by a method', PORT, portWith('abstract canRequire(): boolean;'), SYNTAX],
  ['nor by a method with a default', PORT, portWith('supportsBells(): boolean { return false; }'), SYNTAX],
  ['nor by a getter with a default', PORT, portWith('get storesPayloads(): boolean { return false; }'), SYNTAX],
  ['nor does an interface by a property', PORT, interfaceWith('readonly canRequire: boolean;'), SYNTAX],
  ['nor by a method of an interface', PORT, interfaceWith('hasPayloads(): boolean;'), SYNTAX],
  ['nor by a getter of an interface', PORT, interfaceWith('get storesPayloads(): boolean;'), SYNTAX],
  ['the domain rolls no dice', DOMAIN, used('Math.random()'), SYNTAX],
  ['the domain makes no random id', DOMAIN, `import { randomUUID } from 'node:crypto';${used('randomUUID')}`, IMPORTS],
  ['libs/crypto reads no clock', CRYPTO, used('Date.now()'), SYNTAX],
  ['libs/crypto rolls no dice', CRYPTO, used('Math.random()'), SYNTAX],
  ['the domain reads no environment', DOMAIN, used('process.env.HOME'), SYNTAX],
  ['an adapter reads no environment', ADAPTER, used('process.env'), SYNTAX],
  ['an app reads no environment', CONTROLLER, used('process.env.PORT'), SYNTAX],
  ['the environment has no second name', ADAPTER, `import { env } from 'node:process';${used('env')}`, IMPORTS],
  [
    'facts do not leave through an emitter',
    ADAPTER,
    `import { EventEmitter } from 'node:events';${used('EventEmitter')}`,
    IMPORTS,
  ],
  ['facts do not leave through Nest', DOMAIN, `import { EventBus } from '@nestjs/cqrs';${used('EventBus')}`, IMPORTS],
  [
    'an aggregate is a decider',
    CONTROLLER,
    `import { AggregateRoot } from '@nestjs/cqrs';${used('AggregateRoot')}`,
    IMPORTS,
  ],
  [
    'a refusal is a DomainError',
    CONTROLLER,
    `import { NotFoundException } from '@nestjs/common';${used('NotFoundException')}`,
    IMPORTS,
  ],
  ['a connection has limits', ADAPTER, `import pg from 'pg';${used('new pg.Client({})')}`, SYNTAX],
  ['a pool has limits', ADAPTER, `import pg from 'pg';${used('new pg.Pool({})')}`, SYNTAX],
  ['certificates are checked', ADAPTER, used('{ rejectUnauthorized: false }'), SYNTAX],
  ['certificates are checked under a quoted name', ADAPTER, used("{ 'rejectUnauthorized': false }"), SYNTAX],
  ['a test says how long it waits', SPEC, "\nimport { vi } from 'vitest';\nawait vi.waitFor(() => 1);\n", SYNTAX],
  ['certificates are checked in tests too', SPEC, used('{ rejectUnauthorized: false }'), SYNTAX],
  ['certificates are not switched off outside', ADAPTER, used("'NODE_TLS_REJECT_UNAUTHORIZED'"), SYNTAX],
  [
    'a comment is not a catch',
    ADAPTER,
    'export const run = (work: () => void): void => {\n  try {\n    work();\n  } catch {\n    // never mind\n  }\n};\n',
    SYNTAX,
  ],
  [
    'a constructor takes at most five things',
    ADAPTER,
    'export class Vault {\n  constructor(readonly a: 1, readonly b: 1, readonly c: 1, readonly d: 1, readonly e: 1, readonly f: 1) {}\n}\n',
    SYNTAX,
  ],
  ['a name says what the thing is', ADAPTER, 'export class VaultManager {}\n', SYNTAX],
  ['a test is not left out', SPEC, "import { it } from 'vitest';\n\nit.skip('x', () => {});\n", SYNTAX],
  ['a test does not run alone', SPEC, "import { describe } from 'vitest';\n\ndescribe.only('x', () => {});\n", SYNTAX],
  ['work is not left for later', DOMAIN, '// TODO: later\nexport {};\n', 'no-warning-comments'],
  ['a file has at most 400 lines', DOMAIN, lines(401), 'max-lines'],
  [
    'a function has at most 70 lines',
    DOMAIN,
    `export const long = (): void => {\n${'  run();\n'.repeat(70)}};\n`,
    'max-lines-per-function',
  ],
  ['the Console keeps nothing in the browser', CONSOLE, used("localStorage.getItem('token')"), SYNTAX],
  ['the Console keeps nothing in the browser by its window', CONSOLE, used('window.sessionStorage'), SYNTAX],
  [
    'the Console makes no markup of text',
    CONSOLE_VIEW,
    "export const used = <p dangerouslySetInnerHTML={{ __html: 'x' }} />;\n",
    SYNTAX,
  ],
  ['the Console makes no markup by hand', CONSOLE, used("(document.body.innerHTML = 'x')"), SYNTAX],
  ['a screen of the Console spells no key', CONSOLE_SCREEN, used("{ queryKey: ['agents', 'names'] }"), SYNTAX],
  ['a screen of the Console makes no query', CONSOLE_SCREEN, used('{ queryFn: () => null }'), SYNTAX],
  ['a screen of the Console sets no spelled key', CONSOLE_SCREEN, used("queries.setQueryData(['org'], null)"), SYNTAX],
  [
    'a mutation of the Console names contexts',
    CONSOLE_SCREEN,
    used('queries.invalidateQueries({ queryKey: agentQuery(id).queryKey })'),
    SYNTAX,
  ],
  ['queries.ts makes nothing stale', CONSOLE_QUERIES, used('queries.invalidateQueries({ queryKey: key })'), SYNTAX],
  ['an app prints through the logger', CONTROLLER, "console.log('x');\n", 'no-console'],
];

const ALLOWED: readonly (readonly [title: string, path: string, code: string])[] = [
  ['a date may be made of milliseconds', DOMAIN, used('new Date(0).toISOString()')],
  ['settings are read in one folder', CONFIG, used('process.env')],
  ['a row of a port tells what it has', PORT, interfaceWith('readonly hasMore: boolean;')],
  ['a method of a port may begin like a question', PORT, portWith('abstract storesOf(org: string): Promise<string>;')],
  ['an adapter may look at the clock', ADAPTER, used('Date.now()')],
  [
    'the envelope knows what Nest throws',
    FILTER,
    `import { HttpException } from '@nestjs/common';${used('HttpException')}`,
  ],
  ['one may wait for an event once', ADAPTER, `import { once } from 'node:events';${used('once')}`],
  ['a test reads where its vectors are', SPEC, used('process.env.VECTORS_DIR')],
  [
    'a test may wait for something outside',
    SPEC,
    "import { describe } from 'vitest';\n\ndescribe.skipIf(true)('x', () => {});\n",
  ],
  [
    'a constructor may take five things',
    ADAPTER,
    'export class Vault {\n  constructor(readonly a: 1, readonly b: 1, readonly c: 1, readonly d: 1, readonly e: 1) {}\n}\n',
  ],
  ['preferences stand in one file of the Console', PREFERENCES, used("localStorage.getItem('ags.theme')")],
  ['a query of the Console that no route answers has a key', CONSOLE_QUERIES, used("{ queryKey: ['editor-code'] }")],
  ['the kernel of the Console makes contexts stale', CONSOLE, used('queries.invalidateQueries({ predicate })')],
  ['a screen of the Console takes the key of a query', CONSOLE_SCREEN, used('{ queryKey: agentQuery(id).queryKey }')],
  ['a file of 400 lines is whole', DOMAIN, lines(400)],
];

const TYPED: readonly (readonly [title: string, code: string, rule: string])[] = [
  [
    'a promise is awaited',
    'const work = async (): Promise<void> => {};\nwork();\n',
    '@typescript-eslint/no-floating-promises',
  ],
  [
    'a type is imported as one',
    "import { DomainEvent } from './event-codec.js';\n\nexport type Used = DomainEvent;\n",
    '@typescript-eslint/consistent-type-imports',
  ],
  ['there is no any', 'export const used = (value: any): unknown => value;\n', '@typescript-eslint/no-explicit-any'],
  [
    'every case is named',
    "export const used = (way: 'in' | 'out'): void => {\n  switch (way) {\n    case 'in':\n  }\n};\n",
    '@typescript-eslint/switch-exhaustiveness-check',
  ],
  [
    'the compiler is not silenced',
    '// @ts-ignore\nexport const used: number = 1;\n',
    '@typescript-eslint/ban-ts-comment',
  ],
];

describe('lint rules of our own', () => {
  it.each(REFUSED)('%s', async (_title, path, code, rule) => {
    expect(await rulesBroken(syntactic, path, code)).toContain(rule);
  });

  it.each(ALLOWED)('%s', async (_title, path, code) => {
    expect(await rulesBroken(syntactic, path, code)).toEqual([]);
  });

  it.each(TYPED)('%s', async (_title, code, rule) => {
    expect(await rulesBroken(typed, EXISTING, code)).toContain(rule);
  });

  it('a class that Nest injects keeps its import as a value', async () => {
    const code = [
      "import { Injectable } from '@nestjs/common';",
      "import { Bus } from './bus.port.js';",
      '',
      '@Injectable()',
      'export class Waiter {',
      '  constructor(readonly bus: Bus) {}',
      '}',
      '',
    ].join('\n');
    expect(await rulesBroken(typed, EXISTING, code)).toEqual([]);
  });

  it('a comment does not switch a rule off', async () => {
    const code = `/* eslint-disable */${used('Math.random()')}`;
    expect(await rulesBroken(syntactic, DOMAIN, code)).toContain(SYNTAX);
  });
});
