import { CALL_MODES, SIDE_EFFECTS } from '../kernel/index.js';
import type { Report } from './diagnostics.js';
import { POLICY_LIMITS, type RuleMatch } from './policy-source.js';
import { type Entry, quoted, readChoice, readList, readMapping, readText } from './yaml-nodes.js';

const EVERYTHING: RuleMatch = { tools: null, agents: null, labels: null, mode: null, sideEffect: null };

export const MATCH_FIELDS = ['tools', 'agents', 'labels', 'mode', 'side_effect'] as const;

/** What a rule or a budget is about. A field left out matches everything. */
export const readMatch = (report: Report, entry: Entry | undefined): RuleMatch => {
  if (entry === undefined) return EVERYTHING;
  const mapping = readMapping(report, entry, MATCH_FIELDS);
  if (mapping === null) return EVERYTHING;
  return {
    tools: readGlobs(report, mapping.get('tools'), checkToolGlob),
    agents: readGlobs(report, mapping.get('agents'), checkGlob),
    labels: readLabels(report, mapping.get('labels')),
    mode: readChoices(report, mapping.get('mode'), CALL_MODES),
    sideEffect: readChoices(report, mapping.get('side_effect'), SIDE_EFFECTS),
  };
};

type GlobCheck = (glob: string) => string | null;

const readGlobs = (report: Report, entry: Entry | undefined, check: GlobCheck): readonly string[] | null => {
  if (entry === undefined) return null;
  const items = readList(report, entry, POLICY_LIMITS.globsPerList);
  if (items === null) return null;
  return normalised(items.map((item) => readGlob(report, item, check)));
};

const readGlob = (report: Report, entry: Entry, check: GlobCheck): string | null => {
  const glob = readText(report, entry);
  if (glob === null) return null;
  const fault = check(glob);
  if (fault === null) return glob;
  report.add('invalid_glob', entry.place, `The glob "${quoted(glob)}" ${fault}.`);
  return null;
};

const checkGlob: GlobCheck = (glob) => {
  if (glob === '') return 'is empty';
  if ([...glob].length > POLICY_LIMITS.globCharacters)
    return `is longer than ${POLICY_LIMITS.globCharacters} characters`;
  if (glob.includes('**')) return 'has two stars in a row: one already stands for any run of characters, dots included';
  if (/[\n\t]/.test(glob)) return 'spans more than one line';
  return null;
};

/** Tool names are `<connector>.<tool>` (rule FORM-4), ASCII without spaces. */
const checkToolGlob: GlobCheck = (glob) => {
  const fault = checkGlob(glob);
  if (fault !== null) return fault;
  const foreign = /[^A-Za-z0-9_.*/-]/u.exec(glob)?.[0];
  if (foreign !== undefined) return `holds "${foreign}", which no tool name has; only * is a wildcard`;
  if (!glob.includes('.') && !glob.includes('*')) return 'matches no tool: tools are named <connector>.<tool>';
  return null;
};

const readLabels = (report: Report, entry: Entry | undefined): Readonly<Record<string, string>> | null => {
  if (entry === undefined) return null;
  const mapping = readMapping(report, entry, null);
  if (mapping === null) return null;
  const fields = [...mapping.fields()];
  if (fields.length > POLICY_LIMITS.labelsPerMatch) {
    const message = `${entry.place.path} has ${fields.length} labels; at most ${POLICY_LIMITS.labelsPerMatch} are allowed.`;
    report.add('too_many_items', entry.place, message);
    return null;
  }
  const globs: [string, string][] = [];
  for (const [key, value] of fields) {
    if (key === '' || [...key].length > POLICY_LIMITS.labelKeyCharacters || /[*\n\t]/.test(key)) {
      const message = `The label key "${quoted(key)}" is not one line of 1 to ${POLICY_LIMITS.labelKeyCharacters} characters without *.`;
      report.add('invalid_value', value.keyPlace, message, 'Write the key of a label as the agent has it.');
    }
    const glob = readGlob(report, value, checkGlob);
    if (glob !== null) globs.push([key, glob]);
  }
  return Object.fromEntries(globs.sort(([one], [other]) => (one < other ? -1 : 1)));
};

/** One value, or a list of them. */
const readChoices = <Choice extends string>(
  report: Report,
  entry: Entry | undefined,
  choices: readonly Choice[],
): readonly Choice[] | null => {
  if (entry === undefined) return null;
  const isList = entry.node !== null && 'items' in entry.node;
  const items = isList ? readList(report, entry, choices.length) : [entry];
  if (items === null) return null;
  return normalised(items.map((item) => readChoice(report, item, choices)));
};

/** What could be read, in one order: two spellings of the same list are the same version in meaning. */
const normalised = <Item extends string>(items: readonly (Item | null)[]): readonly Item[] =>
  [...new Set(items.filter((item) => item !== null))].sort();
