import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Proportional set size of a process and of the database under its state directory, in bytes; null where /proc does not tell. */
export const residentBytes = async (pid: number, stateDir: string): Promise<number | null> => {
  const postmaster = Number((await readFile(join(stateDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const pids = [pid, postmaster, ...(await childrenOf(postmaster))];
  const sizes = await Promise.all(pids.map(proportionalBytes));
  return sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
};

const proportionalBytes = async (pid: number): Promise<number | null> => {
  try {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss: +(\d+) kB$/m.exec(rollup)?.[1] ?? 0) * 1024;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

const childrenOf = async (parent: number): Promise<number[]> => {
  const children: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    // The command's name stands in brackets and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[1]) === parent) children.push(Number(name));
  }
  return children;
};
