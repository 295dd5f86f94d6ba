import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const hasProc = existsSync('/proc/self/stat');

/**
 * State characters of `ps -o state` and of /proc for a process that has ended and that its parent has not collected
 * yet.
 */
const ENDED = /^[ZX]/;

/**
 * Identifies a process, so that a later one with the same number has another identity: number, start time and, if
 * available, boot. Null if there is no such process, or if it has ended and only its exit code is still to be
 * collected. (In a container whose first process collects no children, that can last for ever, and `kill(pid, 0)` keeps
 * succeeding.)
 */
export const processIdentity = (pid: number): string | null => {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  return hasProc ? identityFromProc(pid) : identityFromPs(pid);
};

/** The command line of a live process, its parts joined by spaces; null if there is none. */
export const commandLineOf = (pid: number): string | null => {
  if (processIdentity(pid) === null) return null;
  if (!hasProc) return ps(pid, 'args=');
  return readProc(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() ?? null;
};

const identityFromProc = (pid: number): string | null => {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field is the name in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = ''] = fields;
  if (ENDED.test(state)) return null;
  return `${pid}:${fields[19] ?? ''}:${readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}`;
};

const identityFromPs = (pid: number): string | null => {
  const line = ps(pid, 'state=,lstart=');
  return line === null || ENDED.test(line) ? null : `${pid}:${line.replace(/^\S+\s+/, '')}`;
};

const readProc = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ESRCH: the process ended between open and read. EACCES: /proc hides the processes of other users, so it is none
    // of ours.
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return null;
    throw error;
  }
};

const ps = (pid: number, columns: string): string | null => {
  try {
    const line = execFileSync('ps', ['-o', columns, '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' ? null : line;
  } catch (error) {
    // ps answers 1 when nothing matched; anything else (no ps at all) must not pass for 'no such process'.
    if ((error as { status?: unknown }).status === 1) return null;
    throw error;
  }
};
