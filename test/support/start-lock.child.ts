// Adds one to a number in a file, ten times, reading and writing with a pause between: only under the lock is none lost.
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { withStartLock } from '../../libs/infra/src/postgres/start-lock.js';

const [, , lock = '', counter = ''] = process.argv;
for (let round = 0; round < 10; round += 1) {
  await withStartLock(lock, async () => {
    const count = Number(await readFile(counter, 'utf8'));
    await delay(2);
    await writeFile(counter, String(count + 1));
  });
}
process.stdout.write('{"done":true}\n');
