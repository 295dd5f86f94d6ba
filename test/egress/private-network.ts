import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import type { Passage } from '../../libs/infra/src/egress/testing/passage.js';
import type { Zone } from './name-server.js';

export interface Scene {
  readonly zone: Zone;
  /** Names and literals, as a URL writes them. */
  readonly hosts: readonly string[];
}
export type Heard = Passage & { readonly heard: readonly [connections: number, bytes: number] };
export interface Told {
  readonly host: string;
  readonly shut: Heard;
  /** Where the allow-list opens every address: whether the canary can hear of it at all. */
  readonly open: Heard;
  /** Its answer did not fit into a datagram. */
  readonly isLong: boolean;
}

const CHILD = fileURLToPath(new URL('./private-network.child.ts', import.meta.url));
const REGISTER = new URL('../support/register-typescript.mjs', import.meta.url).href;
/** Of util-linux. */
const UNSHARE = 'unshare';
/** User ids, interfaces and mounts of its own: any user may listen at port 53 there, and name another server. */
const APART = ['--user', '--map-root-user', '--net', '--mount', 'sh', '-euc'];
const EVERY_ADDRESS = 'ip link set lo up; ip route add local default dev lo; ip -6 route add local default dev lo';
const OWN_FILES = 'for file in "$1"/*; do mount --bind "$file" "/etc/$(basename "$file")"; done; shift';
/** Of the system's resolver. */
const FILES = {
  'resolv.conf': 'nameserver 127.0.0.1\n',
  ...(existsSync('/etc/nsswitch.conf') ? { 'nsswitch.conf': 'hosts: files dns\n' } : {}),
};

/** Linux, where it lets a user have networks and mounts. */
export const hasPrivateNetworks = (): boolean =>
  spawnSync(UNSHARE, [...APART, `${EVERY_ADDRESS}; mount --bind /etc/hosts /etc/resolv.conf`]).status === 0;

/** What a door of production makes of each host in a network in which all of them lead to a canary. */
export const inPrivateNetwork = async (scene: Scene): Promise<readonly Told[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'ags-names-'));
  try {
    for (const [name, content] of Object.entries(FILES)) await writeFile(join(folder, name), content);
    const node = [process.execPath, '--conditions=source', '--import', REGISTER, CHILD];
    const child = spawn(UNSHARE, [...APART, `${EVERY_ADDRESS}; ${OWN_FILES}; exec "$@"`, 'sh', folder, ...node], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(JSON.stringify(scene));
    const lines = (await text(child.stdout)).trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Told);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
