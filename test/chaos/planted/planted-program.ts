import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, type Program } from '../../support/service.js';
import type { PlantedBug } from './bugs.js';

const PROGRAMS = join('dist', 'programs');
/** Beside the bundles: the functions and steps of the schemas, which a bug may change, too. */
const SCHEMAS = join('dist', 'libs');
/** What the bundles read or load besides from the tree they stand in. */
const LINKED = [
  'node_modules',
  'apps',
  join('dist', 'console'),
  join('dist', 'openapi.yaml'),
  join('dist', 'verify.html'),
];

/** The service as it is built, in a copy with the changes made. */
export interface PlantedProgram {
  readonly program: Program;
  remove(): Promise<void>;
}

/** @throws {Error} a text is not there exactly once: the source has moved on, and the bug must follow it */
export const plantedProgram = async (changes: PlantedBug['changes']): Promise<PlantedProgram> => {
  const folder = await mkdtemp(join(tmpdir(), 'ags-planted-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await mkdir(join(folder, 'dist'));
    await cp(join(ROOT, PROGRAMS), join(folder, PROGRAMS), { recursive: true });
    await cp(join(ROOT, SCHEMAS), join(folder, SCHEMAS), { recursive: true, filter: isFolderOrSql });
    await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
    for (const name of LINKED) await symlink(join(ROOT, name), join(folder, name));
    const files = await Promise.all([PROGRAMS, SCHEMAS].map((name) => filesBelow(join(folder, name))));
    for (const change of changes) await plant(files.flat(), change);
    return { program: { folder, args: [join(folder, PROGRAMS, 'standalone.js')] }, remove };
  } catch (error) {
    await remove();
    throw error;
  }
};

const isFolderOrSql = async (path: string): Promise<boolean> =>
  path.endsWith('.sql') || (await stat(path)).isDirectory();

const filesBelow = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

const plant = async (paths: readonly string[], { text, becomes }: PlantedBug['changes'][number]): Promise<void> => {
  const found: { path: string; source: string }[] = [];
  let occurrences = 0;
  for (const path of paths) {
    const source = await readFile(path, 'utf8');
    const inThis = source.split(text).length - 1;
    if (inThis > 0) found.push({ path, source });
    occurrences += inThis;
  }
  const [only] = found;
  if (!only || occurrences !== 1) {
    throw new Error(
      `a planted bug has no place: the bundles and schemas have ${occurrences} times ${JSON.stringify(text)}`,
    );
  }
  await writeFile(
    only.path,
    only.source.replace(text, () => becomes),
  );
};
