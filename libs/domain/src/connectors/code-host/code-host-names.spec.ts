import { describe, expect, it } from 'vitest';
import { branchFault, isGoverning, isProtectedBranch, isRepository, pathFault } from './code-host-names.js';

const RULES = { protected_branches: ['main', 'Release/*'] };

describe('a repository', () => {
  it.each(['acme/shop', 'A/b.c_d-e', 'acme-1/.github'])('is one: %s', (name) => expect(isRepository(name)).toBe(true));
  it.each([
    '',
    'shop',
    'acme/',
    '/shop',
    'acme/shop/x',
    'acme/..',
    'acme/.',
    'acme/shop.git',
    'acme/sh%6fp',
    '-a/b',
    'acme/ shop',
  ])('is none: %j', (name) => expect(isRepository(name)).toBe(false));
});

describe('a branch', () => {
  it.each(['main', 'fix/a-1', 'a.b', 'release/1.0', 'dependabot/npm+x#1'])('is one: %s', (name) =>
    expect(branchFault(name)).toBeNull(),
  );
  it.each([
    ...[
      '',
      'refs/heads/main',
      'heads/main',
      'REFS/heads/x',
      'tags/v1',
      'HEAD',
      'head',
      '@',
      'main~0',
      'main^0',
      'a'.repeat(245),
    ],
    ...[
      'm%61in',
      'ｍain',
      'ma\u200bin',
      'main ',
      'main.',
      'a..b',
      'a//b',
      '/main',
      'main/',
      '.main',
      'a/.b',
      '-x',
      'x.lock',
      'x.LOCK/y',
    ],
    ...['0123456789abcdef0123456789abcdef01234567', 'x\0', 'a:b', 'owner:main', 'a\\b'],
  ])('is none: %j', (name) => expect(branchFault(name)).not.toBeNull());
});

describe('a protected branch', () => {
  it.each([
    ...[
      'main',
      'MAIN',
      'refs/heads/main',
      'Refs/Heads/Main',
      'heads/main',
      'm%61in',
      'm%2561in',
      'main.',
      'main/',
      '/main',
    ],
    ...['ｍａｉｎ', 'ma\u200bin', ' main', 'refs%2Fheads%2Fmain', 'release/1', 'RELEASE/1/2', 'refs/heads/release/x'],
  ])('is %j', (name) => expect(isProtectedBranch(RULES, name)).toBe(true));
  it.each(['main2', 'fix/main', 'feature', 'release', 'released/1', 'mainline'])('is not %j', (name) =>
    expect(isProtectedBranch(RULES, name)).toBe(false),
  );
});

describe('a path', () => {
  it.each(['a', 'docs/guide.md', 'a b/ü.txt', '100%.md', '.gitignore', '.env', 'a/...b', 'x.git/y', '.github/a'])(
    'is one: %j',
    (path) => expect(pathFault(path)).toBeNull(),
  );
  it.each([
    ...[
      '',
      '/etc/passwd',
      'a/',
      'a//b',
      '.',
      '..',
      'a/../b',
      '../x',
      'a/./b',
      '...',
      'a\\b',
      'a\0b',
      'a\nb',
      'a\u202eb',
    ],
    ...['.git', '.git/config', 'a/.GIT/config', '.git./config', '.git /x', 'GIT~1/config', '.g\u200dit/x', '．git/x'],
    ...['%2e%2e/x', 'a%2f%2fb', 'a%252f..%252fb', '%2egit/config', 'a%5cb', 'a%00b', 'a/.. /b'],
  ])('is none: %j', (path) => expect(pathFault(path)).not.toBeNull());

  it.each([
    ...['.github/workflows/x.yml', '.GitHub/x', '.github./x', '%2egithub/x', '．github/x', 'GITHUB~1/x', '.github'],
    ...['CODEOWNERS', 'docs/codeowners', 'a/b/CodeOwners', 'CODEOWNERS.', 'CODEOWNERS '],
  ])('is one that the host obeys: %j', (path) => expect(isGoverning(path)).toBe(true));
  it.each(['github/x', 'a/.github/x', 'CODEOWNERS/x', 'CODEOWNERS.md'])('is none that the host obeys: %j', (path) =>
    expect(isGoverning(path)).toBe(false),
  );
});
