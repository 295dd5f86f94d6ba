// In a network of its own, where every address is this machine's: a name server that the system's resolver asks, a canary
// at port 443, and a door of production. Tells of each host what became of it, and what where the allow-list opens all.
import { text } from 'node:stream/consumers';

import { EgressDoor } from '#libs/infra/egress';

import { Canary } from '../../libs/infra/src/egress/testing/canary.js';
import { passageThrough } from '../../libs/infra/src/egress/testing/passage.js';
import { serveNames } from './name-server.js';
import type { Heard, Scene, Told } from './private-network.js';

const { zone, hosts } = JSON.parse(await text(process.stdin)) as Scene;
const longAnswers = await serveNames(zone);
const canary = await Canary.listen(443);

const through = async (allow: readonly string[], host: string): Promise<Heard> => {
  const door = new EgressDoor({
    settings: { allowPrivate: false, allowPlainText: false, allow, ownEndpoints: () => [] },
  });
  const passage = await passageThrough(door, `https://${host}`);
  door.close();
  return { ...passage, heard: await canary.heard() };
};

for (const host of hosts) {
  const before = longAnswers();
  const shut = await through([], host);
  const open = await through(['0.0.0.0/0', '::/0'], host);
  const told: Told = { host, shut, open, isLong: longAnswers() > before };
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
process.exit();
