import { readFile } from 'node:fs/promises';

/** Of a line of /proc/<pid>/net/tcp: `  1: 0100007F:1F90 0100007F:C350 01 ...`, the inode tenth. */
const PLACES = { local: 1, remote: 2, inode: 9 } as const;

const portIn = (address = ''): number => Number.parseInt(address.split(':')[1] ?? '', 16);

/**
 * Of the connections that come from these ports to that one of 127.0.0.1, how many a server still holds. The kernel may
 * remember a socket for a while that its process has let go of: that one has no inode any more.
 *
 * @param pid of any process in the server's network namespace
 */
export const heldSockets = async (pid: number, port: number, from: ReadonlySet<number>): Promise<number> => {
  const lines = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').slice(1);
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => portIn(fields[PLACES.local]) === port && from.has(portIn(fields[PLACES.remote])))
    .filter((fields) => fields[PLACES.inode] !== '0').length;
};
