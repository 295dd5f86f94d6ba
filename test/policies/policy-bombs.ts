/** Policy sources that would take long if their compilation grew faster than they do, at the largest size that is read. */
const KIB = 1_024;
const SOURCE_BYTES = 256 * KIB;

const fill = (piece: string, bytes = SOURCE_BYTES): string => piece.repeat(Math.floor(bytes / piece.length));
const lines = (line: (index: number) => string, bytes = SOURCE_BYTES): string => {
  let text = '';
  for (let index = 0; text.length + 100 < bytes; index += 1) text += `${line(index)}\n`;
  return text;
};
const HEAD = 'version: 1\ndefault: deny\nrules:\n';
const rules = (expression: (index: number) => string): string =>
  HEAD +
  lines(
    (index) => `  - id: r${index}\n    when: '${expression(index)}'\n    decision: allow`,
    SOURCE_BYTES - HEAD.length,
  );
const aliases = lines(
  (index) => `a${index}: &a${index} [*a${Math.max(0, index - 1)}, *a${Math.max(0, index - 1)}]`,
  4_000,
);

// Each is refused, none is slow (rule POLICY-8).
export const HOSTILE_SOURCES: readonly (readonly [string, string])[] = [
  ['alias bomb', aliases],
  ['alias to itself', 'a: &a\n  b: *a\n'],
  ['anchors alone', fill('&a ')],
  ['merge keys', lines((index) => `m${index}:\n  <<: x`)],
  ['merge keys in braces', lines((index) => `<<: {a${index}: 1}`)],
  ['script tag', 'version: !!js/function "function () {}"\n'],
  ['tags', fill('!!str ')],
  ['exclamation marks', fill('!')],
  ['1 MiB and one byte', fill('a', KIB * KIB + 1)],
  ['256 KiB and one byte of two-byte characters', `${fill('é', SOURCE_BYTES)}é`],
  ['100,000 lines', '#\n'.repeat(100_000)],
  ['100,000 empty lines', '\n'.repeat(100_000)],
  ['keys that repeat', fill('a: 1\n')],
  ['keys that differ', lines((index) => `k${index}: 1`)],
  ['keys that differ, few lines', lines((index) => `k${index}: ${'v'.repeat(90)}`)],
  ['mixed line endings', fill('a: 1\r\nb: 2\n')],
  ['CR alone', fill('a: 1\r')],
  ['one long line', fill('a')],
  ['one long quoted text', `a: "${fill('\\n', SOURCE_BYTES - 10)}"`],
  ['one long folded text', `a: "${fill('\n ', 9_000)}"`],
  ['quote left open', `a: "${fill('x', SOURCE_BYTES - 10)}`],
  ['quotes in quotes', `a: '${fill("''", SOURCE_BYTES - 10)}'`],
  ['wrong escapes', `a: "${fill('\\q', SOURCE_BYTES - 10)}"`],
  ['escapes that are no characters', `a: "${fill('\\UFFFFFFFF', SOURCE_BYTES - 10)}"`],
  ['brackets', fill('[')],
  ['braces', fill('{')],
  ['closing brackets', fill(']')],
  ['lists in brackets', lines((index) => `k${index}: [a, b, [c]]`)],
  ['dashes in one line', fill('- ')],
  ['question marks in one line', fill('? ')],
  ['colons in one line', fill(': ')],
  ['keys in one line', fill('a: ')],
  ['deep indentation', lines((index) => `${' '.repeat(index)}a:`)],
  ['falling indentation', lines((index) => `${' '.repeat(60 - (index % 60))}b: 1`)],
  ['tabs', fill('\t')],
  ['spaces', `${fill(' ', SOURCE_BYTES - 1)}a`],
  ['documents', fill('---\n')],
  ['document ends', fill('...\n')],
  ['directives', fill('%A b\n')],
  ['at signs', fill('@')],
  ['backticks', lines(() => 'a: `x`')],
  ['control characters', fill('\u0001')],
  ['text that turns round', fill('\u202E', SOURCE_BYTES / 3)],
  ['halves of characters', fill('\uD800', SOURCE_BYTES / 3)],
  ['block texts', lines((index) => `k${index}: |\n  x`)],
  ['long block text', `a: |\n${fill(`  ${'x'.repeat(60)}\n`, SOURCE_BYTES - 10)}`],
  [
    '500 rules that cover nothing',
    HEAD + Array.from({ length: 501 }, (_, i) => `  - id: r${i}\n    decision: deny\n`).join(''),
  ],
  ['long conditions', rules((index) => `args.a${index} == 1${' + 1'.repeat(240)}`)],
  ['deep conditions', rules((index) => `${'('.repeat(32)}args.a${index}${')'.repeat(32)}`)],
  ['conditional chains', rules((index) => `${'args.a ? true : '.repeat(60)}args.b${index}`)],
  ['wrong names', rules((index) => `${'unknown.field == 1 && '.repeat(60)}x${index}`)],
  ['long names', rules((index) => `${'n'.repeat(2_000)}${index} == 1`)],
  ['patterns that repeat', rules((index) => `tool.matches("${'a{900}'.repeat(40)}${index}")`)],
  ['patterns with tables', rules((index) => `tool.matches("(?i)[${'\\\\pL\\\\pN'.repeat(36)}${index}]")`)],
  ['patterns with wide ranges', rules((index) => `tool.matches("(?i)${'[À-\uffff]'.repeat(40)}${index}")`)],
  ['long lists', rules((index) => `args.a in ["${'a","'.repeat(200)}${index}"]`)],
];

/** Every rule matches by globs that are nearly those of every other, and one of its own. */
const nearlyCovering = (globs: number, glob: (index: number) => string): string => {
  const rule = (index: number): string =>
    ` - id: r${index}\n   match:\n    tools:\n${Array.from({ length: globs }, (_, each) => `    - "${glob(each)}"\n`).join('')}    - own.r${index}\n   decision: allow\n`;
  const count = Math.min(500, Math.floor(SOURCE_BYTES / (rule(100).length + 1)), Math.floor(4_900 / (globs + 5)));
  return HEAD + Array.from({ length: count }, (_, index) => rule(index)).join('');
};

/** As many conditions as the language takes, each of them short. */
const manyConditions = (): string =>
  HEAD +
  Array.from(
    { length: 500 },
    (_, index) => ` - id: r${index}\n   when: args.a${index} == 1 && args.b == 2 && args.c < 3\n   decision: allow\n`,
  ).join('');

const longTexts = (): string =>
  HEAD +
  Array.from(
    { length: 125 },
    (_, index) => ` - id: r${index}\n   when: 'args.a == "${'x'.repeat(1_900)}${index}"'\n   decision: allow\n`,
  ).join('');

/** Sources that compile, judged whole and at once. */
export const LARGE_POLICIES: readonly (readonly [string, string])[] = [
  ['globs with one star', nearlyCovering(63, (each) => `*${'a'.repeat(30)}${each}`)],
  ['long globs with two stars', nearlyCovering(63, (each) => `*${'a'.repeat(190)}${each}*b`)],
  ['few globs in many rules', nearlyCovering(4, (each) => `*${'a'.repeat(40)}${each}*b`)],
];

/** Sources that compile and take long, so that they are judged in turns. */
export const LONG_POLICIES: readonly (readonly [string, string])[] = [
  ['500 conditions', manyConditions()],
  ['conditions with long texts', longTexts()],
];
