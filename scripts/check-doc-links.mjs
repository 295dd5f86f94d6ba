// Every relative link, anchor and file path in the documents leads somewhere; every rule of docs/rules.md that documents,
// comments and titles of tests cite is there, once, and every rule there is cited. Prints `file:line: what is wrong` for
// each that is not so, and ends with 1. `node scripts/check-doc-links.mjs [root]`; the root is the repository by default.
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

const TREES = ['apps', 'libs', 'test', 'scripts'];
const RULES = join(root, 'docs', 'rules.md');
/** Where a rule stands: one line each, with an anchor that a link can name. */
const RULE = /^- <a id="([a-z]+-\d+)"><\/a>\*\*([A-Z]+-\d+)\*\* \S/;
/** Files in which rules are cited, beside the documents. */
const SOURCE = /\.(?:cjs|css|html|js|mjs|py|sql|ts|tsx|yaml|yml)$/;
/** Numbers of other lists, and the page that has each. */
const NUMBERED = { INV: 'docs/chaos.md', F: 'docs/failure-modes.md', CP: 'docs/failpoints.md' };

const below = (directory, accepts) =>
  existsSync(directory)
    ? readdirSync(directory, { recursive: true })
        .map(String)
        .filter((name) => accepts(name) && !name.split(sep).some((part) => part === 'node_modules' || part === 'dist'))
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

/** Every rule, with its line. What is wrong with the list itself goes to `findings`. */
const rulesIn = (lines, findings) => {
  const rules = new Map();
  for (const { text, line } of lines) {
    const [, anchor, id] = RULE.exec(text) ?? [];
    if (id === undefined) continue;
    const fault = rules.has(id) ? 'stands twice' : anchor === id.toLowerCase() ? null : `has the anchor ${anchor}`;
    if (fault !== null) findings.push(`${relative(root, RULES)}:${line}: rule ${id}: ${fault}`);
    if (!rules.has(id)) rules.set(id, line);
  }
  return rules;
};

/** The numbers that a page says something of; a row `| CP-11 to CP-14: ...` is about all four. */
const numbersIn = (page, prefix) => {
  const numbers = new Set();
  for (const { text } of proseOf(page)) {
    for (const [id] of text.matchAll(new RegExp(`\\b${prefix}-\\d\\d\\b`, 'g'))) numbers.add(id);
    const [, first, last] = new RegExp(`^\\| ${prefix}-(\\d\\d) to ${prefix}-(\\d\\d):`).exec(text) ?? [];
    for (let number = Number(first); number <= Number(last); number += 1) {
      numbers.add(`${prefix}-${String(number).padStart(2, '0')}`);
    }
  }
  return numbers;
};

const linesOf = (file) =>
  file.endsWith('.md')
    ? proseOf(file)
    : readFileSync(file, 'utf8')
        .split(/\r?\n/)
        .map((text, index) => ({ text, line: index + 1 }));

const citingFiles = () => [
  ...documents.filter((file) => file !== RULES && existsSync(file)),
  ...TREES.flatMap((tree) => below(join(root, tree), (name) => SOURCE.test(name))),
];

/** Rules by their lines, and the numbers of each other list; a list whose page is not there has none to be wrong. */
const knownIds = (findings) => {
  const pages = Object.entries(NUMBERED).filter(([, page]) => existsSync(join(root, page)));
  return {
    rules: existsSync(RULES) ? rulesIn(proseOf(RULES), findings) : new Map(),
    numbers: new Map(pages.map(([prefix, page]) => [prefix, numbersIn(join(root, page), prefix)])),
  };
};

/** A citation is an id with a known prefix, any id after the word `rule`, or a number of another list. */
const citationOf = ({ rules, numbers }) => {
  const prefixes = new Set([...rules.keys()].map((id) => id.split('-')[0]));
  const forms = [...prefixes].map((prefix) => `${prefix}-\\d+`);
  if (forms.length > 0) forms.push('(?<=\\b[Rr]ules? )[A-Z]+-\\d+');
  for (const prefix of numbers.keys()) forms.push(`${prefix}-\\d\\d`);
  return forms.length === 0 ? /(?!)/g : new RegExp(`\\b(?:${forms.join('|')})\\b`, 'g');
};

/** What is wrong with a cited id, or null. */
const faultOfCitation = (id, { rules, numbers }) => {
  const list = id.split('-')[0];
  if (numbers.has(list)) return numbers.get(list).has(id) ? null : `${id}: not in ${NUMBERED[list]}`;
  return rules.has(id) ? null : `rule ${id}: no such rule`;
};

/** Each citation leads to a rule or to a number, and each rule is cited by somebody. */
const checkCitations = () => {
  const findings = [];
  const known = knownIds(findings);
  const citation = citationOf(known);
  const cited = new Set();
  let checked = 0;
  for (const file of citingFiles()) {
    for (const { text, line } of linesOf(file)) {
      for (const [id] of text.matchAll(citation)) {
        checked += 1;
        cited.add(id);
        const fault = faultOfCitation(id, known);
        if (fault !== null) findings.push(`${relative(root, file)}:${line}: ${fault}`);
      }
    }
  }
  for (const [id, line] of known.rules) {
    if (!cited.has(id)) findings.push(`${relative(root, RULES)}:${line}: rule ${id}: nothing cites it`);
  }
  return { checked, findings };
};

const results = documents.map(check);
const citations = checkCitations();
const findings = [...results.flatMap((result) => result.findings), ...citations.findings];
for (const finding of findings) console.log(finding);
const checked = results.reduce((sum, result) => sum + result.checked, 0);
const count = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;
const looked = `${count(checked, 'link')} and paths in ${count(documents.length, 'document')}, and ${count(citations.checked, 'citation')}`;
if (findings.length > 0) {
  console.error(`${count(findings.length, 'finding')} among ${looked}.`);
  process.exitCode = 1;
} else {
  console.log(`${looked} resolve.`);
}
