import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_AGAIN_MS = 100;
/** From its making to its holder's name in it; killed in between, it stays empty. */
const UNWRITTEN_MS = 1_000;
/** Longer than any work here: another machine or container may have written the process id, and it says nothing here. */
const ABANDONED_AFTER_MS = 10 * 60_000;

/** What stands in a lock that this process holds. */
const OWN = String(process.pid);

/** Whether this process has the lock now: its file is made by one only. */
const taken = (lock) => {
  try {
    writeFileSync(lock, OWN, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
};

/** Who holds it; null where nobody does. */
const holderOf = (lock) => {
  try {
    return readFileSync(lock, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return null;
  }
};

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

/** Whether its holder ended without giving it back, as by kill -9; this process, which holds none, has the same id by chance. */
const isAbandoned = (lock, holder) => {
  const file = statSync(lock, { throwIfNoEntry: false });
  if (file === undefined) return false;
  const ageMs = Date.now() - file.mtimeMs;
  if (holder === '') return ageMs > UNWRITTEN_MS;
  return holder === OWN || !isAlive(Number(holder)) || ageMs > ABANDONED_AFTER_MS;
};

/** Takes it away, unless somebody else has done so meanwhile and holds another: that one is put back. */
const takeAway = (lock, holder) => {
  const away = `${lock}.${OWN}`;
  try {
    renameSync(lock, away);
    if (holderOf(away) !== holder) linkSync(away, lock);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
  rmSync(away, { force: true });
};

/**
 * Does the work when no other process does any under the same lock, a file that is there as long as somebody works. Calls
 * `onWait` once where it has to wait. Three that find an abandoned lock within microseconds may not all see each other: the
 * work must bear that.
 */
export const oneAtATime = async (lock, { work, onWait }) => {
  for (let hasWaited = false; !taken(lock);) {
    if (!hasWaited) onWait();
    hasWaited = true;
    const holder = holderOf(lock);
    if (holder !== null && isAbandoned(lock, holder)) takeAway(lock, holder);
    else await delay(LOOK_AGAIN_MS);
  }
  const giveBack = () => {
    if (holderOf(lock) === OWN) rmSync(lock, { force: true });
  };
  // Work that fails may end the process.
  process.once('exit', giveBack);
  try {
    return await work();
  } finally {
    process.off('exit', giveBack);
    giveBack();
  }
};
