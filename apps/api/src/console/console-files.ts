import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '#libs/infra/runtime';

const FOLDER = join('dist', 'console');

/** By the end of a name. A file of another kind in the build is a mistake, and ends the start. */
const ASSET_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** A page: the same bytes for everybody. */
export interface ConsolePage {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** A file whose name holds the hash of what is in it, and its compressed forms. */
export interface ConsoleAsset {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

export interface ConsoleFiles {
  readonly index: ConsolePage;
  readonly kit: ConsolePage;
  /** By name, as it stands below /app/assets. */
  readonly assets: ReadonlyMap<string, ConsoleAsset>;
}

/**
 * What the build made of apps/console, in memory: no request reads a file. Read once, at the start: a build that is missing
 * or not whole ends it.
 */
export const readConsoleFiles = (folder = join(packageRoot(), FOLDER)): ConsoleFiles => {
  const names = readdirSync(join(folder, 'assets')).filter((name) => !/[.](br|gz)$/.test(name));
  return {
    index: readPage(join(folder, 'index.html')),
    kit: readPage(join(folder, 'kit.html')),
    assets: new Map(names.map((name) => [name, readAsset(join(folder, 'assets', name))])),
  };
};

const readPage = (path: string): ConsolePage => {
  const bytes = readFileSync(path);
  return { bytes, etag: `"sha256:${createHash('sha256').update(bytes).digest('hex')}"` };
};

const readAsset = (path: string): ConsoleAsset => {
  const contentType = ASSET_TYPES[path.slice(path.lastIndexOf('.') + 1)];
  if (contentType === undefined) throw new Error(`${path} is of a kind that the Console does not serve`);
  return {
    contentType,
    bytes: readFileSync(path),
    br: readFileSync(`${path}.br`),
    gzip: readFileSync(`${path}.gz`),
  };
};

/**
 * The form of a body that a client takes and that is smallest (RFC 9110, section 12.5.3).
 * @param accepted `Accept-Encoding`; without it the plain one is sent
 */
export const codingFor = (accepted: string | undefined): 'br' | 'gzip' | null => {
  const weights = new Map(
    (accepted ?? '').split(',').map((part) => {
      const [name = '', ...parameters] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );
  const takes = (name: string): boolean => (weights.get(name) ?? weights.get('*') ?? 0) > 0;
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : null;
};
