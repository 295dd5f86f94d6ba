import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DirectoryLock } from './directory-lock.js';
import { LatestCheckpoints } from './latest-checkpoints.js';
import { StateFolder } from './state-files.js';
import { WitnessKey, WitnessKeyError } from './witness-key.js';

const KEY_FILE = 'witness.key';
const LOGS = 'logs';
const FOLDER_MODE = 0o700;
const KEY_MODE = 0o600;

/** The state directory of a witness is not usable. The message says what to do. */
export class WitnessDirectoryError extends Error {
  override readonly name = 'WitnessDirectoryError';
}

/** What one process holds while it runs. */
export interface HeldState {
  readonly key: WitnessKey;
  readonly checkpoints: LatestCheckpoints;
  release(): Promise<void>;
}

/**
 * Makes the key of a witness and the folder of what it will cosign. The key appears last and whole, so a directory with a
 * key has the folder, too: where the folder is missing later, what was cosigned is lost. One that is there already is left.
 * @throws {WitnessDirectoryError} it holds the key of another name
 */
export const initWitness = async (directory: string, name: string): Promise<WitnessKey> => {
  await mkdir(directory, { recursive: true, mode: FOLDER_MODE });
  const existing = await keyIn(directory);
  if (existing !== null) return ofName(existing, name, directory);
  await mkdir(join(directory, LOGS), { recursive: true, mode: FOLDER_MODE });
  const key = WitnessKey.generate(name);
  const draft = join(directory, `.${randomBytes(8).toString('hex')}.new`);
  const file = await open(draft, 'wx', KEY_MODE);
  try {
    await file.writeFile(key.toFile());
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, join(directory, KEY_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Somebody else was faster. His key is the one.
    return ofName(await readWitnessKey(directory), name, directory);
  } finally {
    await rm(draft, { force: true });
  }
  await new StateFolder(directory).syncFolder();
  return key;
};

const ofName = (key: WitnessKey, name: string, directory: string): WitnessKey => {
  if (key.witnessName === name) return key;
  throw new WitnessDirectoryError(
    `${directory} has the key of ${key.witnessName} already, and a key has one name. Name another directory.`,
  );
};

/** @throws {WitnessDirectoryError} there is none, or it cannot be used */
export const readWitnessKey = async (directory: string): Promise<WitnessKey> => {
  const key = await keyIn(directory);
  if (key !== null) return key;
  throw new WitnessDirectoryError(
    `${directory} has no key of a witness. Run \`npm run ags -- witness init\` once, with this --state and a --name.`,
  );
};

const keyIn = async (directory: string): Promise<WitnessKey | null> => {
  const path = join(directory, KEY_FILE);
  const mode = await modeOf(path);
  if (mode === null) return null;
  if ((mode & 0o077) !== 0) throw new WitnessDirectoryError(`${path} is readable by others. Run chmod 0600 on it.`);
  try {
    return WitnessKey.fromFile(await readFile(path, 'utf8'));
  } catch (error) {
    if (!(error instanceof WitnessKeyError)) throw error;
    throw new WitnessDirectoryError(`${path} cannot be used: ${error.message}. Restore it from your backup.`);
  }
};

const modeOf = async (path: string): Promise<number | null> => {
  try {
    return (await stat(path)).mode;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

/** For as long as this process serves. @throws {WitnessDirectoryError} @throws {DirectoryLockError} */
export const holdState = async (directory: string): Promise<HeldState> => {
  const key = await readWitnessKey(directory);
  const logs = join(directory, LOGS);
  if ((await modeOf(logs)) === null) {
    throw new WitnessDirectoryError(
      `${logs} is missing, and with it what this witness has cosigned: under the same key it could say the opposite. ` +
        'Put the folder back as it was last, or make a witness with a new key in a new directory.',
    );
  }
  const lock = await DirectoryLock.take(directory);
  const checkpoints = new LatestCheckpoints(new StateFolder(logs), key);
  try {
    await checkpoints.open();
  } catch (error) {
    await lock.release();
    throw error;
  }
  return { key, checkpoints, release: () => lock.release() };
};
