import { isMap, isScalar, isSeq } from 'yaml';
import type { JsonValue } from '#libs/crypto';
import { DECISION_OUTCOMES, type DecisionOutcome, isOneLine, Turns } from '../kernel/index.js';
import { checkSource } from './check-source.js';
import { DIAGNOSTICS_MAX, POLICY_DIAGNOSTICS, type PolicyDiagnostic, Report } from './diagnostics.js';
import { isFault, readTrialInput, type TrialInput } from './trial-input.js';
import {
  type Entry,
  type Mapping,
  parseYaml,
  readChoice,
  readList,
  readMapping,
  readText,
  reportMissing,
} from './yaml-nodes.js';

const CASES_MAX_BYTES = 1_048_576;
export const CASES_MAX = 1_000;
const NAME_MAX_CHARACTERS = 120;
/** Of a case, where its name is looked for when the case itself is not read. */
const FIRST_LINE_MAX = 1_024;

/** One call and what a policy is to say of it. */
export interface PolicyCase {
  readonly name: string;
  /** Of its beginning in the file, from 1. */
  readonly line: number;
  readonly input: TrialInput;
  readonly expect: { readonly decision: DecisionOutcome; readonly rule: string | null };
}

export type ReadCases =
  | { readonly ok: true; readonly cases: readonly PolicyCase[] }
  | { readonly ok: false; readonly diagnostics: readonly PolicyDiagnostic[] };

const turns = new Turns();

/**
 * A file of cases: a YAML list in the style of a policy, each case beginning with `- ` at the beginning of a line. So it is
 * read case by case, and a large file holds nobody up. Every problem is told with its line.
 */
export const readCasesInTurns = async (text: string): Promise<ReadCases> => {
  if (Buffer.byteLength(text) > CASES_MAX_BYTES) {
    return refused([finding('source_too_large', 1, 'The cases are larger than 1 MiB.', 'Split the file.')]);
  }
  const { pieces, before } = split(text);
  if (before !== null) return refused([before]);
  if (pieces.length > CASES_MAX) {
    const message = `The file has ${pieces.length} cases; at most ${CASES_MAX} are allowed.`;
    return refused([finding('too_many_items', 1, message, 'Split the file.')]);
  }
  const cases: PolicyCase[] = [];
  const found: PolicyDiagnostic[] = [];
  for (const [index, piece] of pieces.entries()) {
    await turns.next();
    const { read, diagnostics } = readCase(piece, index);
    if (read !== null) cases.push(read);
    found.push(...diagnostics);
    if (found.length >= DIAGNOSTICS_MAX) break;
  }
  return found.length > 0 ? refused(found.slice(0, DIAGNOSTICS_MAX)) : { ok: true, cases };
};

const refused = (diagnostics: readonly PolicyDiagnostic[]): ReadCases => ({ ok: false, diagnostics });

const finding = (
  code: PolicyDiagnostic['code'],
  line: number,
  message: string,
  hint: string = POLICY_DIAGNOSTICS[code].hint,
): PolicyDiagnostic => ({
  object: 'policy_diagnostic',
  severity: 'error',
  code,
  message,
  hint,
  line,
  column: 1,
  rule_id: null,
  path: null,
});

interface Piece {
  readonly text: string;
  /** Lines before it. */
  readonly linesBefore: number;
}

const BEGINS_CASE = /^-(?:[ \t\r]|$)/;
const EMPTY_LINE = /^\s*(?:#.*|---\s*)?\r?$/;

/** No text of YAML goes on at the beginning of a line with a dash, so the file falls into its cases before it is parsed. */
const split = (text: string): { readonly pieces: readonly Piece[]; readonly before: PolicyDiagnostic | null } => {
  const pieces: { lines: string[]; linesBefore: number }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const last = pieces.at(-1);
    if (BEGINS_CASE.test(line)) pieces.push({ lines: [line], linesBefore: index });
    else if (last !== undefined) last.lines.push(line);
    else if (!EMPTY_LINE.test(line)) {
      const message = 'A file of cases is a list: each case begins with "- name: " at the beginning of a line.';
      return { pieces: [], before: finding('wrong_type', index + 1, message, 'Begin each case with "- name: ".') };
    }
  }
  if (pieces.length === 0) return { pieces: [], before: finding('empty_source', 1, 'There is no case.', 'Write one.') };
  return {
    pieces: pieces.map(({ lines, linesBefore }, index) => ({
      text: textOf(lines, index < pieces.length - 1),
      linesBefore,
    })),
    before: null,
  };
};

/** With the line break that ends its last line where another case follows. */
const textOf = (lines: readonly string[], isFollowed: boolean): string => lines.join('\n') + (isFollowed ? '\n' : '');

const readCase = (
  { text, linesBefore }: Piece,
  index: number,
): { readonly read: PolicyCase | null; readonly diagnostics: readonly PolicyDiagnostic[] } => {
  const { source, diagnostics } = checkSource(text, {
    name: nameOf(text, index),
    sizeHint: 'Shorten its arguments, or take them from a smaller call.',
  });
  const entry = diagnostics.hasErrors ? undefined : parsed(parseYaml(source, diagnostics));
  const [item] = entry === undefined ? [] : (readList(new Report(diagnostics), entry, 1) ?? []);
  const path = `cases[${index}]`;
  const here = item && { ...item, place: { ...item.place, path }, keyPlace: { ...item.keyPlace, path } };
  const read = here === undefined ? null : caseOf(new Report(diagnostics), here, linesBefore + 1);
  const placed = diagnostics.list().map((found) => ({ ...found, line: found.line + linesBefore }));
  return { read: diagnostics.hasErrors ? null : read, diagnostics: placed };
};

/** What a case is called before it was read: by its name where that stands on its first line, and by its number. */
const nameOf = (text: string, index: number): string => {
  const [, name = ''] = /^-[ \t]+name:[ \t]*(.*)$/m.exec(text.slice(0, FIRST_LINE_MAX)) ?? [];
  const written = name.trim().replace(/^(["'])(.*)\1$/, '$2');
  const isName = written !== '' && [...written].length <= NAME_MAX_CHARACTERS;
  return isName ? `Case ${index + 1}, "${written}",` : `Case ${index + 1}`;
};

const parsed = (pieces: ReturnType<typeof parseYaml>): Entry | undefined => {
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
  }
};

const caseOf = (report: Report, entry: Entry, line: number): PolicyCase | null => {
  const mapping = readMapping(report, entry, ['name', 'input', 'expect']);
  if (mapping === null) return null;
  const name = readName(report, mapping);
  const input = readInput(report, mapping);
  const expect = readExpect(report, mapping);
  return name === null || input === null || expect === null ? null : { name, line, input, expect };
};

const readName = (report: Report, mapping: Mapping): string | null => {
  const entry = mapping.get('name');
  if (entry === undefined) {
    reportMissing(report, mapping, 'name', 'Add a name, which the answer shows.');
    return null;
  }
  const name = readText(report, entry)?.trim() ?? null;
  if (name === null) return null;
  if (name !== '' && [...name].length <= NAME_MAX_CHARACTERS && isOneLine(name)) return name;
  report.add(
    'invalid_value',
    entry.place,
    `The name of a case must be one line of 1 to ${NAME_MAX_CHARACTERS} characters.`,
  );
  return null;
};

const readInput = (report: Report, mapping: Mapping): TrialInput | null => {
  const entry = mapping.get('input');
  if (entry === undefined) {
    reportMissing(report, mapping, 'input', 'Add the call: "input:" and below it "tool: <connector>.<tool>".');
    return null;
  }
  const read = readTrialInput(jsonOf(report, entry), entry.place.path);
  if (!isFault(read)) return read;
  report.add('invalid_value', entry.place, read.message, 'Correct the field; docs/try-a-policy.md lists them.');
  return null;
};

const readExpect = (report: Report, mapping: Mapping): PolicyCase['expect'] | null => {
  const entry = mapping.get('expect');
  if (entry === undefined) {
    reportMissing(report, mapping, 'expect', 'Add "expect:" and below it "decision: allow".');
    return null;
  }
  const fields = readMapping(report, entry, ['decision', 'rule']);
  if (fields === null) return null;
  const written = fields.get('decision');
  if (written === undefined) {
    reportMissing(
      report,
      fields,
      'decision',
      'Add "decision: allow", "decision: deny" or "decision: require_approval".',
    );
    return null;
  }
  const decision = readChoice(report, written, DECISION_OUTCOMES);
  const named = fields.get('rule');
  const rule = named === undefined ? null : readText(report, named);
  return decision === null ? null : { decision, rule };
};

/** Plain JSON of a YAML value. A key without a value is null, as in YAML; a number that JSON cannot write is reported. */
const jsonOf = (report: Report, entry: Entry): JsonValue => {
  const { node, place } = entry;
  if (isMap(node)) {
    const fields = readMapping(report, entry, null)?.fields() ?? [];
    return Object.fromEntries([...fields].map(([key, value]) => [key, jsonOf(report, value)]));
  }
  if (isSeq(node)) return (readList(report, entry, Number.MAX_SAFE_INTEGER) ?? []).map((item) => jsonOf(report, item));
  const value: unknown = isScalar(node) ? node.value : null;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  report.add(
    'invalid_value',
    place,
    `${place.path} is no value of JSON.`,
    'Write a text, a number, true, false or null.',
  );
  return null;
};
