// A test server in a process of its own. Says its URL, then takes one call a line, and answers each when it is done. It ends
// with its standard input: whoever started it is gone then.
import { createInterface } from 'node:readline';
import { KurrentServer } from './kurrent-server.js';
import type { KurrentCall } from './kurrent-server-process.js';

const say = (line: unknown): boolean => process.stdout.write(`${JSON.stringify(line)}\n`);

const server = await KurrentServer.start();
say({ url: server.url });

const carryOut = (told: KurrentCall): Promise<void> | void => {
  switch (told.call) {
    case 'kill':
      return server.kill();
    case 'start':
      return server.start();
    case 'deny':
      return server.deny(told.right);
    case 'allow':
      return server.allow(told.right);
    case 'rewind':
      return server.rewind(BigInt(told.position));
  }
};

for await (const line of createInterface({ input: process.stdin })) {
  const told = JSON.parse(line) as KurrentCall;
  await carryOut(told);
  say({ done: told.call });
}
process.exit();
