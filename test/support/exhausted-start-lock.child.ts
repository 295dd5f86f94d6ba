// Takes the lock, opens files until it has as many as it may, and lets go of the lock with all of them open.
import { openSync } from 'node:fs';
import { withStartLock } from '../../libs/infra/src/postgres/start-lock.js';

const [, , lock = ''] = process.argv;
const openAll = (): unknown => {
  try {
    for (;;) openSync('/dev/null', 'r');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
};
const outcome = await withStartLock(lock, () => Promise.resolve(openAll())).catch((error: unknown) => String(error));
process.stdout.write(`${JSON.stringify({ outcome })}\n`);
