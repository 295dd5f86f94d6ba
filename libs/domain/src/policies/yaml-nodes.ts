import { Composer, isMap, isPair, isScalar, isSeq, type Node, Parser, type Scalar, type YAMLError } from 'yaml';

import type { Diagnostics, Place, Report } from './diagnostics.js';
import { didYouMean } from './did-you-mean.js';
import type { SourceText } from './source-text.js';

/** A value with its place. The node is null where a key has no value. */
export interface Entry {
  readonly node: Node | null;
  readonly place: Place;
  /** Of its key, or of itself in a list. */
  readonly keyPlace: Place;
}

// Duplicates are found by our own reader in one pass; the package compares every key with every other.
const YAML_OPTIONS = { schema: 'core', version: '1.2', merge: false, uniqueKeys: false, logLevel: 'silent' } as const;

/**
 * Parses a text that `checkSource` let through, in two pieces. Undefined when it is no YAML or empty; the findings are
 * reported.
 */
export function* parseYaml(source: SourceText, diagnostics: Diagnostics): Generator<void, Entry | undefined> {
  const { text } = source;
  const tokens = [...new Parser().parse(text)];
  yield;
  // A second document was refused before.
  const [document] = new Composer(YAML_OPTIONS).compose(tokens, true, text.length);
  for (const problem of [...(document?.errors ?? []), ...(document?.warnings ?? [])])
    reportSyntax(problem, source, diagnostics);
  if (diagnostics.hasErrors) return undefined;
  const contents = document?.contents ?? null;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    diagnostics.report('empty_source', 0, 'The policy is empty.');
    return undefined;
  }
  const place = { offset: startOf(contents) ?? 0, path: '' };
  return { node: contents, place, keyPlace: place };
}

export const ESCAPE_HINT = 'Use single quotes, in which a backslash stands for itself, or double the backslash.';

const SYNTAX_HINTS: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY:
    'Put the value in quotes, or write it as a block that begins with "|": ": " inside a plain value begins a mapping.',
  TAB_AS_INDENT: 'Indent with spaces.',
  BAD_SCALAR_START: 'Put the value in quotes.',
  MISSING_CHAR: 'Add what is missing, often a closing quote or a colon after a key.',
  BAD_DQ_ESCAPE: ESCAPE_HINT,
};

const reportSyntax = (problem: YAMLError, source: SourceText, diagnostics: Diagnostics): void => {
  const [offset] = problem.pos;
  const message = `This is not valid YAML: ${problem.message}.`;
  const hint = SYNTAX_HINTS[problem.code] ?? conditionHint(source.lineAt(source.lineIndexAt(offset)));
  diagnostics.report('yaml_syntax', offset, message, { hint });
};

/** YAML takes a quoted text at the beginning of a condition for the whole condition. */
const conditionHint = (line: string): string | undefined => {
  const condition = /^\s*(?:- +)?when:\s+(["'].*?)\s*$/.exec(line)?.[1];
  if (condition === undefined) return undefined;
  return condition.includes("'") || [...condition].length > QUOTED_MAX_CHARACTERS
    ? 'Write the condition as a block: "when: |", and the condition indented on the next line.'
    : `Put the whole condition in single quotes: '${condition}'.`;
};

/** A mapping's known fields. Everything else about its keys was reported when it was read. */
export class Mapping {
  constructor(
    readonly place: Place,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {}

  get(field: string): Entry | undefined {
    return this.entries.get(field);
  }

  fields(): Iterable<readonly [string, Entry]> {
    return this.entries;
  }
}

/** @param fields the known ones; null where any key is allowed */
export const readMapping = (report: Report, entry: Entry, fields: readonly string[] | null): Mapping | null => {
  const { node, place } = entry;
  if (!isMap(node)) {
    reportType(report, entry, 'a mapping', 'Write one "name: value" a line, indented below the field.');
    return null;
  }
  const entries = new Map<string, Entry>();
  for (const pair of node.items) {
    if (!isPair(pair)) continue;
    const keyOffset = startOf(pair.key) ?? place.offset;
    const key = isScalar(pair.key) && typeof pair.key.value === 'string' ? pair.key.value : null;
    const path = joinPath(place.path, key ?? '?');
    const keyPlace = { offset: keyOffset, path };
    if (key === null) {
      report.add('yaml_complex_key', { offset: keyOffset, path: place.path }, 'A key is not a plain name.');
    } else if (key === '<<') {
      report.add('yaml_merge_key', keyPlace, 'A merge key stands here.');
    } else if (entries.has(key)) {
      report.add('duplicate_key', keyPlace, `The key "${quoted(key)}" stands twice in the same mapping.`);
    } else if (fields !== null && !fields.includes(key)) {
      report.add('unknown_field', keyPlace, `There is no field "${quoted(key)}" here.`, didYouMean(key, fields));
    } else {
      const value = pair.value as Node | null;
      entries.set(key, { node: value, place: { offset: startOf(value) ?? keyOffset, path }, keyPlace });
    }
  }
  return new Mapping(place, entries);
};

export const readList = (report: Report, entry: Entry, itemsMax: number): readonly Entry[] | null => {
  const { node, place } = entry;
  if (!isSeq(node) || node.items.length === 0) {
    reportType(report, entry, 'a list', 'Write one item a line, each starting with "- ".');
    return null;
  }
  if (node.items.length > itemsMax) {
    const message = `${place.path} has ${node.items.length} items; at most ${itemsMax} are allowed.`;
    report.add('too_many_items', place, message);
    return null;
  }
  return node.items.map((item, index) => {
    const itemPlace = { offset: startOf(item) ?? place.offset, path: `${place.path}[${index}]` };
    return { node: item as Node | null, place: itemPlace, keyPlace: itemPlace };
  });
};

/** The text of a scalar; null when it is none, which is reported. */
export const readText = (report: Report, entry: Entry): string | null => {
  const { node } = entry;
  if (isScalar(node) && typeof node.value === 'string') return node.value;
  const isOtherScalar = isScalar(node) && node.value !== null;
  reportType(report, entry, 'a text', isOtherScalar ? `Put it in quotes: "${quoted(sourceOf(node))}".` : undefined);
  return null;
};

/** @param wanted what a text that fits is, as a sentence goes on with it; null when it does not fit, which is reported */
export const readPattern = (report: Report, entry: Entry, pattern: RegExp, wanted: string): string | null => {
  const text = readText(report, entry);
  if (text === null || pattern.test(text)) return text;
  const message = `${entry.place.path} must be ${wanted}, not "${quoted(text)}".`;
  report.add('invalid_value', entry.place, message, `Write ${wanted}.`);
  return null;
};

export const readInteger = (report: Report, entry: Entry, min: number, max: number): number | null => {
  const { node, place } = entry;
  // One spelling: YAML would also read 0x10, 1e3 and 010 as numbers.
  if (!isScalar(node) || typeof node.value !== 'number' || !/^(0|[1-9]\d{0,15})$/.test(sourceOf(node))) {
    const hint = `Write a number from ${min} to ${max} in plain digits.`;
    if (isScalar(node) && typeof node.value === 'number') {
      const message = `${place.path} must be a whole number in plain digits, such as 1000, not ${quoted(sourceOf(node))}.`;
      report.add('wrong_type', place, message, hint);
    } else {
      reportType(report, entry, 'a whole number', hint);
    }
    return null;
  }
  if (node.value >= min && node.value <= max) return node.value;
  report.add('invalid_value', place, `${place.path} must be from ${min} to ${max}.`, 'Choose a number in that range.');
  return null;
};

export const BOOLEANS = ['true', 'false'] as const;

export const readBoolean = (report: Report, entry: Entry): boolean | null => {
  const { node } = entry;
  // One spelling: YAML would also read True and TRUE.
  const isOne = isScalar(node) && typeof node.value === 'boolean' && BOOLEANS.some((text) => text === sourceOf(node));
  if (isOne) return node.value as boolean;
  reportType(report, entry, BOOLEANS.join(' or '), 'Write true or false, in lower case and without quotes.');
  return null;
};

/** @param offered those that a policy can be saved with; the others have a finding of their own, and nobody is sent to them */
export const readChoice = <Choice extends string>(
  report: Report,
  entry: Entry,
  choices: readonly Choice[],
): Choice | null => {
  const text = readText(report, entry);
  if (text === null) return null;
  const choice = choices.find((one) => one === text);
  if (choice !== undefined) return choice;
  const listed = choices.length === 1 ? choices[0] : `one of ${choices.join(', ')}`;
  const message = `${entry.place.path} must be ${listed}, not "${quoted(text)}".`;
  report.add('invalid_value', entry.place, message, didYouMean(text, choices));
  return null;
};

export const reportMissing = (report: Report, { place }: Mapping, field: string, hint?: string): void => {
  report.add('missing_field', place, `The field ${joinPath(place.path, field)} is missing.`, hint);
};

const reportType = (report: Report, { place, node, keyPlace }: Entry, wanted: string, hint?: string): void => {
  const where = node === null || (isScalar(node) && node.value === null) ? keyPlace : place;
  const name = place.path === '' ? 'The policy' : place.path;
  report.add('wrong_type', where, `${name} must be ${wanted}, not ${kindOf(node)}.`, hint);
};

const QUOTED_MAX_CHARACTERS = 80;

/** For a message: one line, at most 80 characters. */
export const quoted = (text: string): string => {
  const line = text.replace(/\s+/g, ' ');
  const characters = [...line];
  if (characters.length <= QUOTED_MAX_CHARACTERS) return line;
  return `${characters.slice(0, QUOTED_MAX_CHARACTERS - 1).join('')}…`;
};

const kindOf = (node: Node | null): string => {
  if (isMap(node)) return 'a mapping';
  if (isSeq(node)) return 'a list';
  if (!isScalar(node) || node.value === null) return 'empty';
  return typeof node.value === 'string' ? 'a text' : `a ${typeof node.value}`;
};

const joinPath = (path: string, key: string): string => (path === '' ? quoted(key) : `${path}.${quoted(key)}`);

const sourceOf = (node: Scalar): string => node.source ?? String(node.value);

const startOf = (node: unknown): number | undefined => {
  const range = (node as Partial<Node> | null)?.range;
  return range?.[0];
};

/**
 * Where a character of a scalar's text stands in the source, so that a finding inside a condition points at its very
 * place. Folded and escaped texts give the scalar's beginning.
 */
export const sourceOffset = (source: SourceText, scalar: Scalar, text: string, textOffset: number): number => {
  const [start, end] = scalar.range ?? [0, 0];
  if (scalar.type === 'BLOCK_LITERAL') return offsetInBlock(source, start, text, textOffset);
  const written = source.text.slice(start, end);
  const at = written.indexOf(text);
  return at === -1 ? start : start + at + textOffset;
};

const offsetInBlock = (source: SourceText, start: number, text: string, textOffset: number): number => {
  const before = text.slice(0, textOffset).split('\n');
  const lineInText = before.length - 1;
  // The block begins on the line below its indicator; what a line has more in the source is its indentation.
  const index = source.lineIndexAt(start) + 1 + lineInText;
  const indent = source.lineAt(index).length - (text.split('\n')[lineInText] ?? '').length;
  return source.lineStart(index) + Math.max(0, indent) + (before[lineInText] ?? '').length;
};
