import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version, commit and build time of the running program. */
export class BuildFacts {
  constructor(
    /** The version in package.json. */
    readonly version: string,
    /** The commit of the checkout, 40 hex characters; `unknown` outside of a checkout. */
    readonly commit: string,
    /** When the sources were compiled, RFC 3339; null if they run uncompiled. */
    readonly builtAt: string | null,
  ) {}
}

const UNKNOWN_COMMIT = 'unknown';
const COMMIT = /^[0-9a-f]{40}$/;

/**
 * The folder that holds package.json, both for sources and for compiled files. Files that the compiler does not copy,
 * such as the OpenAPI document, are found from here.
 */
export const packageRoot = (): string => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('package.json was not found above the program');
    folder = parent;
  }
  return folder;
};

/** Meant to be read once, at start-up. */
export const readBuildFacts = (root = packageRoot()): BuildFacts => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return new BuildFacts(version, commitOf(root), builtAtOf(root));
};

const commitOf = (root: string): string => {
  const git = join(root, '.git');
  const head = textOf(join(git, 'HEAD'));
  const reference = /^ref: (refs\/[\w./-]+)$/.exec(head)?.[1];
  if (reference === undefined) return COMMIT.test(head) ? head : UNKNOWN_COMMIT;
  const loose = textOf(join(git, reference));
  if (COMMIT.test(loose)) return loose;
  const packed = textOf(join(git, 'packed-refs'))
    .split('\n')
    .find((line) => line.endsWith(` ${reference}`));
  return packed?.slice(0, 40) ?? UNKNOWN_COMMIT;
};

/** The time of the build, which the build writes into a stamp file beside the compiled files. */
const builtAtOf = (root: string): string | null => {
  const builtAtMs = Date.parse(textOf(join(root, 'dist', '.built')));
  return Number.isNaN(builtAtMs) ? null : new Date(builtAtMs).toISOString();
};

/** The text of a file; empty if there is none, as in a package without its repository. */
const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8').trim() : '');
