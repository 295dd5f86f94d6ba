// Every relative link, anchor and file path in the documents leads somewhere. Prints `file:line: what is wrong` for each
// that does not, and ends with 1. `node scripts/check-doc-links.mjs [root]`; the root is the repository by default.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));

/** Trees that a build or a start makes: a document may name what a clone does not hold yet. */
const MADE_LATER = /^(?:\.\/)?(?:dist|node_modules|coverage|\.service)\//;
const EXTERNAL = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;
const LINK = /\]\(\s*(?:<([^>]*)>|([^)\s]*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/g;
const DEFINITION = /^ {0,3}\[[^\]]+\]:\s*(?:<([^>]*)>|(\S+))/g;
const CODE_SPAN = /(`+)((?:(?!\1).)+?)\1(?!`)/g;
/** A slash and a known extension, then perhaps a line. Placeholders (`<context>`, `*`, `{a,b}`) do not match. */
const REPOSITORY_PATH =
  /^((?:\.{1,2}\/)*[\w@.-]+(?:\/[\w@.-]+)+\.(?:cjs|js|json|jsonl|md|mjs|ndjson|pem|py|sh|sql|ts|tsx|txt|yaml|yml))(?::(\d+))?$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$/;
const UNDERLINE = /^ {0,3}(?:=+|-+)\s*$/;
const EXPLICIT_ANCHOR = /<[a-z][^>]*\s(?:id|name)=["']([^"']+)["']/gi;

const below = (directory, accepts) =>
  existsSync(directory)
    ? readdirSync(directory, { recursive: true })
        .map(String)
        .filter((name) => accepts(name) && !name.split(sep).includes('node_modules'))
        .map((name) => join(directory, name))
        .sort()
    : [];

const documents = [
  join(root, 'README.md'),
  ...below(join(root, 'docs'), (name) => name.endsWith('.md')),
  ...['apps', 'libs', 'test'].flatMap((tree) =>
    below(join(root, tree), (name) => name === 'README.md' || name.endsWith(`${sep}README.md`)),
  ),
];

/** The lines outside fenced blocks, with their numbers. */
const proseOf = (file) => {
  let fence = null;
  return readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .map((text, index) => ({ text, line: index + 1 }))
    .filter(({ text }) => {
      const mark = FENCE.exec(text)?.[1];
      if (fence === null && mark === undefined) return true;
      if (fence === null) fence = mark;
      else if (mark?.startsWith(fence) && /^\s*[`~]+\s*$/.test(text)) fence = null;
      return false;
    });
};

/** The anchor that GitHub gives a heading, before it numbers repetitions. */
const slugOf = (heading) =>
  heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (file) => {
  const lines = proseOf(file);
  const anchors = new Set();
  const seen = new Map();
  lines.forEach(({ text }, index) => {
    for (const [, name] of text.matchAll(EXPLICIT_ANCHOR)) anchors.add(name);
    const isUnderlined = text.trim() !== '' && UNDERLINE.test(lines[index + 1]?.text ?? '');
    const heading = HEADING.exec(text)?.[1] ?? (isUnderlined ? text.trim() : null);
    if (heading === null) return;
    const slug = slugOf(heading);
    const repetition = seen.get(slug) ?? 0;
    seen.set(slug, repetition + 1);
    anchors.add(repetition === 0 ? slug : `${slug}-${repetition}`);
  });
  return anchors;
};

const lineCount = (file) => readFileSync(file, 'utf8').split('\n').length;

const isInside = (path) => !relative(root, path).startsWith('..');

/** What is wrong with the anchor of an existing file, or null. */
const faultOfAnchor = (path, anchor) => {
  const line = /^L(\d+)(?:-L\d+)?$/.exec(anchor);
  if (line && !path.endsWith('.md')) return Number(line[1]) <= lineCount(path) ? null : 'no such line';
  if (!path.endsWith('.md')) return null;
  return anchorsOf(path).has(anchor) ? null : 'no such heading';
};

/** What is wrong with the target of a link in `file`, or null. */
const faultOfLink = (file, target) => {
  if (target === '') return 'no target';
  const [encoded, anchor] = target.split('#', 2);
  const path = decodeURIComponent(encoded.split('?', 1)[0]);
  const absolute = path === '' ? file : path.startsWith('/') ? join(root, path) : resolve(dirname(file), path);
  if (!isInside(absolute)) return 'leads out of the repository';
  if (!existsSync(absolute)) return 'no such file';
  if (anchor === undefined || anchor === '' || statSync(absolute).isDirectory()) return null;
  return faultOfAnchor(absolute, anchor);
};

/** What is wrong with a path in backticks, or null. It counts from the repository or from the document's own folder. */
const faultOfPath = (file, path, line) => {
  if (MADE_LATER.test(path)) return null;
  const found = [join(root, path), resolve(dirname(file), path)].find((candidate) => existsSync(candidate));
  if (found === undefined) return 'no such file';
  return line === undefined || Number(line) <= lineCount(found) ? null : 'no such line';
};

const check = (file) => {
  if (!existsSync(file)) return { checked: 1, findings: [`${relative(root, file)}:1: no such file`] };
  const findings = [];
  let checked = 0;
  const judge = (line, kind, target, fault) => {
    checked += 1;
    if (fault !== null) findings.push(`${relative(root, file)}:${line}: ${kind} ${target}: ${fault}`);
  };
  for (const { text, line } of proseOf(file)) {
    for (const [, , span] of text.matchAll(CODE_SPAN)) {
      const path = REPOSITORY_PATH.exec(span.trim());
      if (path) judge(line, 'path', path[0], faultOfPath(file, path[1], path[2]));
    }
    const withoutCode = text.replace(CODE_SPAN, '');
    for (const [, bracketed, bare] of [...withoutCode.matchAll(LINK), ...withoutCode.matchAll(DEFINITION)]) {
      const target = bracketed ?? bare;
      if (!EXTERNAL.test(target)) judge(line, 'link', target, faultOfLink(file, target));
    }
  }
  return { checked, findings };
};

const results = documents.map(check);
const findings = results.flatMap((result) => result.findings);
for (const finding of findings) console.log(finding);
const checked = results.reduce((sum, result) => sum + result.checked, 0);
const count = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;
if (findings.length > 0) {
  console.error(
    `${findings.length} of ${count(checked, 'link')} and paths in ${count(documents.length, 'document')} lead nowhere.`,
  );
  process.exitCode = 1;
} else {
  console.log(`${count(checked, 'link')} and paths in ${count(documents.length, 'document')} resolve.`);
}
