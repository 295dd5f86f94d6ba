import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, type Program } from '../../support/service.js';
import type { PlantedBug } from './bugs.js';

const PROGRAMS = join('dist', 'programs');
/** Beside the bundles: what they read or load from the tree they stand in. */
const LINKED = ['node_modules', 'apps', join('dist', 'console')];

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
    await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
    for (const name of LINKED) await symlink(join(ROOT, name), join(folder, name));
    for (const change of changes) await plant(join(folder, PROGRAMS), change);
    return { program: { folder, args: [join(folder, PROGRAMS, 'standalone.js')] }, remove };
  } catch (error) {
    await remove();
    throw error;
  }
};

const plant = async (folder: string, { text, becomes }: PlantedBug['changes'][number]): Promise<void> => {
  const found: { path: string; source: string }[] = [];
  let occurrences = 0;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const source = await readFile(path, 'utf8');
    const inThis = source.split(text).length - 1;
    if (inThis > 0) found.push({ path, source });
    occurrences += inThis;
  }
  const [only] = found;
  if (!only || occurrences !== 1) {
    throw new Error(`a planted bug has no place: the bundles have ${occurrences} times ${JSON.stringify(text)}`);
  }
  await writeFile(
    only.path,
    only.source.replace(text, () => becomes),
  );
};
