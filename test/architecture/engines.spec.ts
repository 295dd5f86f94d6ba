import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FileTypeValidator } from '@nestjs/common';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } };
const [, oldest = ''] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? [];

interface Installed {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
}

describe('the locked packages', () => {
  it(`all run on the oldest Node that package.json promises (${oldest})`, () => {
    const isRefused = `:attr(engines, [node]):not(:semver(${oldest}.0, :attr(engines, [node])))`;
    const found = execFileSync('npm', ['query', '--package-lock-only', isRefused], { cwd: ROOT, encoding: 'utf8' });
    const refused = JSON.parse(found) as Installed[];
    expect(refused.map(({ name, version, engines: { node } }) => `${name}@${version} wants Node ${node}`)).toEqual([]);
  });

  // Both newest versions ask for Node 22; `overrides` keeps the last ones that do not.
  it('of `overrides` do what was asked of the versions they stand for: cookies of an injected request', async () => {
    const app = fastify();
    app.get('/', ({ headers }) => headers.cookie);
    expect((await app.inject({ url: '/', cookies: { a: 'b c', d: 'é' } })).body).toBe('a=b%20c; d=%C3%A9');
  });

  it('of `overrides` do what was asked of the versions they stand for: the type of a file', async () => {
    const isPng = new FileTypeValidator({ fileType: 'image/png' });
    const file = (bytes: string) => ({ mimetype: 'image/png', size: 1, buffer: Buffer.from(bytes, 'base64') });
    const onePixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    expect(await isPng.isValid(file(onePixel))).toBe(true);
    expect(await isPng.isValid(file(Buffer.from('no picture').toString('base64')))).toBe(false);
  });
});
