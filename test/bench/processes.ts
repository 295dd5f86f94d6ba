import { readdir, readFile } from 'node:fs/promises';
import type { BenchProcess } from './bench-service.js';

/** Of Linux, for user space: sysconf(_SC_CLK_TCK). */
const TICK_MS = 10;

/** Proportional set size of each process, PostgreSQL's own ones with it, in bytes; null where /proc does not tell. */
export const residentBytes = async (
  processes: readonly BenchProcess[],
): Promise<readonly { readonly name: string; readonly bytes: number }[] | null> => {
  const all = await processTable();
  const sizes = await Promise.all(
    processes.map(async (process) => {
      const { name } = process;
      const bytes = await Promise.all(
        all.filter((each) => isPartOf(each, process)).map(({ pid }) => proportionalBytes(pid)),
      );
      return bytes.includes(null) ? null : { name, bytes: bytes.reduce<number>((sum, size) => sum + (size ?? 0), 0) };
    }),
  );
  const known = sizes.filter((size) => size !== null);
  return known.length === sizes.length && known.every(({ bytes }) => bytes > 0) ? known : null;
};

/** Processor time of the processes of a role, PostgreSQL's own ones with it; zero where the system has no /proc. */
export const busyMsOf = async (
  processes: readonly BenchProcess[],
): Promise<Readonly<Record<BenchProcess['role'], number>>> => {
  const all = await processTable();
  const busyMs = { service: 0, database: 0, stores: 0 };
  for (const process of processes) {
    for (const each of all) if (isPartOf(each, process)) busyMs[process.role] += each.busyMs;
  }
  return busyMs;
};

/** PostgreSQL has a process for each connection. */
const isPartOf = ({ pid, parent }: ProcessEntry, process: BenchProcess): boolean =>
  pid === process.pid || (process.role === 'database' && parent === process.pid);

const proportionalBytes = async (pid: number): Promise<number | null> => {
  try {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss: +(\d+) kB$/m.exec(rollup)?.[1] ?? 0) * 1024;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly busyMs: number;
}

const processTable = async (): Promise<readonly ProcessEntry[]> => {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    names.map(async (name) => {
      const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
      // The command's name stands in brackets and may hold anything.
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const busyMs = ((fields[11] ?? 0) + (fields[12] ?? 0)) * TICK_MS;
      return { pid: Number(name), parent: fields[1] ?? 0, busyMs };
    }),
  );
};
