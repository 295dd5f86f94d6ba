import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Of these processes the one whose connection has this local port. Linux alone tells. */
export const holderOfPort = (port: number, pids: readonly number[]): number | undefined => {
  const socket = `socket:[${inodeOf(port)}]`;
  return pids.find((pid) => openFilesOf(pid).includes(socket));
};

const inodeOf = (port: number): string => {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  const columns = lines.map((line) => line.trim().split(/ +/));
  return columns.find(([, local]) => local?.endsWith(wanted))?.[9] ?? '';
};

const openFilesOf = (pid: number): readonly string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
