// Holds the PostgreSQL of the state directory named by its argument; one JSON line when it answers, lets go on `release`.
import { createInterface } from 'node:readline';
import { startEmbeddedPostgres } from '../../libs/infra/src/postgres/embedded-server.js';
import { silentLogger } from './silent-logger.js';

const say = (line: unknown): boolean => process.stdout.write(`${JSON.stringify(line)}\n`);

try {
  const server = await startEmbeddedPostgres({ stateDir: process.argv[2] ?? '', log: silentLogger });
  say({ address: server.connectionString('postgres') });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line !== 'release') continue;
    await server.release();
    say({ released: true });
    break;
  }
} catch (error) {
  say({ failed: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
}
process.exit();
