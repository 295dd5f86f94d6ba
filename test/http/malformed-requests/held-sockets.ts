import { readdir, readFile, readlink } from 'node:fs/promises';

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
  return (await socketsNear(pid))
    .filter((fields) => portIn(fields[PLACES.local]) === port && from.has(portIn(fields[PLACES.remote])))
    .filter((fields) => fields[PLACES.inode] !== '0').length;
};

/** How many sockets a process has open to that port, those included that are not connected yet. */
export const openSocketsTo = async (pid: number, port: number): Promise<number> => {
  const files = await readdir(`/proc/${pid}/fd`);
  // A file may be closed before it is looked at.
  const targets = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
  const own = new Set(targets.map((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1]));
  const sockets = await socketsNear(pid);
  return sockets.filter((fields) => portIn(fields[PLACES.remote]) === port && own.has(fields[PLACES.inode])).length;
};

/** Of its network namespace, over IPv4: the fields of each. */
const socketsNear = async (pid: number): Promise<readonly string[][]> => {
  const lines = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').slice(1);
  return lines.map((line) => line.trim().split(/\s+/));
};
