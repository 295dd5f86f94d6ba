// The Console for who changes it, at the service that runs already: its own sources below /app, everything else of the service.
//   node scripts/console-work.mjs watch [http://127.0.0.1:8080]   each change is built as it is shipped, under the service's headers
//   node scripts/console-work.mjs dev   [http://127.0.0.1:8080]   Vite's server: changes show at once, without the content policy
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const configFile = join(root, 'apps', 'console', 'vite.config.ts');
/** Not the one that a service reads: it would begin with half a build. */
const outDir = join(root, 'dist', 'console.watched');

const [mode, address = 'http://127.0.0.1:8080'] = process.argv.slice(2);

const giveUp = (why) => {
  process.stderr.write(`${why}\n`);
  process.exit(1);
};

/** Under the same host: cookies are of a host, whatever its port. Its origin is what the service asks changes for. */
const proxyTo = ({ origin }) => {
  const configure = (proxy) =>
    proxy.on('proxyReq', (request) => {
      if (request.hasHeader('origin')) request.setHeader('origin', origin);
    });
  const paths = ['/v1', '/auth', '/login', '/api', '/.well-known', '/docs'];
  return Object.fromEntries(paths.map((path) => [path, { target: origin, changeOrigin: true, configure }]));
};

/** What the service sends with a page of the Console, so that a build that breaks its policy is seen to. */
const headersOf = async ({ origin }) => {
  const answer = await fetch(`${origin}/app/assets/none.js`).catch(() => null);
  if (answer === null) return giveUp(`Nothing answers at ${origin}. Start the service (npm start), then try again.`);
  const names = ['content-security-policy', 'cross-origin-opener-policy', 'permissions-policy'];
  return Object.fromEntries(
    names.map((name) => [name, answer.headers.get(name)]).filter(([, value]) => value !== null),
  );
};

/** The overview is at /app, which to Vite is not below /app/. */
const overview = () => {
  const rewrite = (request, _response, next) => {
    request.url = request.url.replace(/^\/app(?=$|\?)/, '/app/');
    next();
  };
  const first = ({ middlewares }) => void middlewares.use(rewrite);
  return { name: 'overview', configureServer: first, configurePreviewServer: first };
};

const whereItIs = (server) => process.stdout.write(`The Console, at your sources: ${server.resolvedUrls.local[0]}\n`);

const watch = async (service) => {
  const headers = await headersOf(service);
  process.env['NODE_ENV'] = 'production';
  const { build, preview } = await import('vite');
  const watcher = await build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true, watch: {} } });
  await new Promise((resolve) => {
    watcher.on('event', (event) => {
      if (event.code === 'BUNDLE_END') process.stdout.write(`Built in ${event.duration} ms: load the page again.\n`);
      if (event.code === 'ERROR') process.stderr.write(`${event.error.message}\n`);
      if (event.code === 'END' || event.code === 'ERROR') resolve();
    });
  });
  const told = { host: service.hostname, headers, proxy: proxyTo(service) };
  whereItIs(await preview({ configFile, plugins: [overview()], build: { outDir }, preview: told }));
};

const dev = async (service) => {
  const { createServer } = await import('vite');
  const told = { host: service.hostname, proxy: proxyTo(service) };
  const server = await createServer({ configFile, plugins: [overview()], server: told });
  whereItIs(await server.listen());
};

const work = { watch, dev }[mode];
if (work === undefined || !URL.canParse(address)) {
  giveUp('node scripts/console-work.mjs watch|dev [address of a service that runs, such as http://127.0.0.1:8080]');
} else {
  await work(new URL(address));
}
