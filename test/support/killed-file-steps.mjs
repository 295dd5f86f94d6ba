// Loaded into a program by `--import`: ends it with SIGKILL before or after the n-th step that it makes on files of the folder
// that KILLED_STEPS names, `before:3:/path`. So a program that knows no failpoint can be killed between any two steps.
import { createRequire, syncBuiltinESMExports } from 'node:module';

const { promises: files } = createRequire(import.meta.url)('node:fs');
const [, when = '', nth = '0', folder = ''] = /^(before|after):(\d+):(.+)$/.exec(process.env.KILLED_STEPS ?? '') ?? [];

let steps = 0;

const step = async (path, work) => {
  if (folder === '' || !String(path).startsWith(folder)) return work();
  steps += 1;
  const isLast = steps === Number(nth);
  const end = () => new Promise(() => process.kill(process.pid, 'SIGKILL'));
  if (isLast && when === 'before') return end();
  const result = await work();
  return isLast ? end() : result;
};

const opened = (path, file) => {
  for (const name of ['writeFile', 'sync', 'close']) {
    const original = file[name].bind(file);
    file[name] = (...given) => step(path, () => original(...given));
  }
  return file;
};

const { open, rename, rm } = files;
files.open = (path, ...rest) => step(path, async () => opened(path, await open(path, ...rest)));
files.rename = (from, to) => step(from, () => rename(from, to));
files.rm = (path, ...rest) => step(path, () => rm(path, ...rest));
syncBuiltinESMExports();
