// Writes the tables that documents make of data, between their markers: docs/performance.md of docs/performance.json, which
// `npm run bench -- --record` keeps, and docs/failure-modes.md of docs/failure-modes.json. `npm run docs:tables`; with
// `--check` nothing is written, and a table that is not that of its data ends it with 1.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(fileURLToPath(new URL('..', import.meta.url)));

/** Two lines of 120 characters: what a reader sees of a cell, so a link counts as its text. */
const CELL_MAX_CHARACTERS = 240;

const seen = (cell) => cell.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

const rowOf = (cells) => {
  for (const cell of cells) {
    if (seen(cell).length <= CELL_MAX_CHARACTERS && cell !== '' && !/[|\n]/.test(seen(cell))) continue;
    throw new Error(`A cell has 1 to ${CELL_MAX_CHARACTERS} characters, and no | or line end among them: ${cell}`);
  }
  return `| ${cells.join(' | ')} |`;
};

const tableOf = (header, rows) => [rowOf(header), `|${header.map(() => '---').join('|')}|`, ...rows.map(rowOf)];

const number = (value) => value.toLocaleString('en-US', { maximumFractionDigits: 3 });

/** A ratio with what it is of, as far as it is known, or a figure of its own unit. */
const lastSeen = ({ value, unit, limit, ratio }) => {
  if (ratio === null) return unit === 'ratio' ? number(value) : `${number(value)} ${unit}`;
  if (value === null) return number(ratio);
  return `${number(ratio)} (${number(value)}${limit === null ? '' : ` of ${number(limit)}`} ${unit})`;
};

const performanceTable = (figures) =>
  tableOf(
    ['figure', 'goal', 'last seen', 'when, and on what'],
    figures.map((entry) => [
      `\`${entry.figure}\``,
      `${entry.aim} ${number(entry.goal)} ${entry.of}`,
      [lastSeen(entry), ...(entry.holds ? [] : ['**missed**']), ...(entry.note ? [entry.note] : [])].join('; '),
      `${entry.when}, ${entry.machine}`,
    ]),
  );

/** A link that says the title of the test where a pointer rests on it. */
const testLink = (test) => {
  const [, path, title] = /^(\S+): (.+)$/.exec(test) ?? [];
  if (path === undefined || /["\\]/.test(title)) throw new Error(`A test is "path: title", without quotes: ${test}`);
  return `[${basename(path).replace(/([.]long)?([.]spec)?[.]ts$/, '')}](../${path} "${title}")`;
};

const failureTables = (faults) => {
  const parts = [...new Set(faults.map(({ at }) => at))];
  return parts.flatMap((part, index) => [
    ...(index === 0 ? [] : ['']),
    `### ${part}`,
    '',
    ...tableOf(
      ['fault', 'callers', 'what was under way', 'tests'],
      faults
        .filter(({ at }) => at === part)
        .map(({ fault, callers, under_way, tests }) => [fault, callers, under_way, tests.map(testLink).join(', ')]),
    ),
  ]);
};

const DOCUMENTS = [
  { page: 'docs/performance.md', data: 'docs/performance.json', linesOf: performanceTable },
  { page: 'docs/failure-modes.md', data: 'docs/failure-modes.json', linesOf: failureTables },
];

/** The page with the table of its data between its markers. */
const withTable = (text, data, lines) => {
  const begin = `<!-- made of ${data} by npm run docs:tables -->`;
  const end = `<!-- end of ${data} -->`;
  const [before, rest, ...more] = text.split(begin);
  const [, after] = rest?.split(end) ?? [];
  if (after === undefined || more.length > 0)
    throw new Error(`The markers of ${data} are not there once: ${begin} ... ${end}`);
  return [before + begin, '', ...lines, '', end + after].join('\n');
};

const isCheck = process.argv.includes('--check');
for (const { page, data, linesOf } of DOCUMENTS) {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const made = withTable(text, data, linesOf(JSON.parse(readFileSync(join(ROOT, data), 'utf8'))));
  if (made === text) continue;
  if (isCheck) {
    process.stderr.write(`${page} is not made of ${data} as it is: run npm run docs:tables\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(join(ROOT, page), made);
    process.stdout.write(`${page} is made of ${data}.\n`);
  }
}
