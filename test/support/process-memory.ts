import { readFile, writeFile } from 'node:fs/promises';

const bytesOf = async (pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
};

/** What a process holds in memory now. */
export const residentBytes = (pid: number): Promise<number> => bytesOf(pid, 'VmRSS');

/** The most that it held at once while this was under way (proc(5): `VmHWM`, which 5 in `clear_refs` begins anew). */
export const peakBytesDuring = async (pid: number, work: () => Promise<unknown>): Promise<number> => {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  await work();
  return bytesOf(pid, 'VmHWM');
};
