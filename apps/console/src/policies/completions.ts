import type { Schemas } from '../kernel/client.ts';
import type { Choice } from './choice.ts';
import { type CatalogueTool, toolChoices } from './tool-choices.ts';

type Language = Schemas['PolicyLanguage'];

export interface Completed {
  /** The offset in the text at which the word begins that the choices replace. */
  readonly from: number;
  readonly options: readonly Choice[];
}

interface Line {
  /** The column of the key: the blanks and dashes before it. */
  readonly indent: number;
  readonly key: string;
  readonly value: string;
}

const KEY = /^(\s*(?:- +)*)([a-z_]+):(?:\s+(.*))?$/;

const lineOf = (text: string): Line | null => {
  const [, indent, key, value = ''] = KEY.exec(text) ?? [];
  return indent === undefined || key === undefined ? null : { indent: indent.length, key, value };
};

/** The keys that a line is nested in, the innermost first. */
const keysAbove = (lines: readonly string[], indent: number): readonly Line[] => {
  const above: Line[] = [];
  let within = indent;
  for (const text of lines.toReversed()) {
    const line = lineOf(text);
    if (line === null || line.indent >= within) continue;
    above.push(line);
    within = line.indent;
  }
  return above;
};

const fieldsUnder = (language: Language, parent: string | undefined): Language['rule'] => {
  switch (parent) {
    case undefined:
      return language.policy;
    case 'rules':
      return language.rule;
    case 'match':
      return language.match;
    case 'approval':
      return language.approval;
    case 'budgets':
      return language.budget;
    default:
      return [];
  }
};

const CONTAINERS: readonly string[] = ['rules', 'budgets', 'match', 'approval'];

const keyChoices = (fields: Language['rule']): readonly Choice[] =>
  fields.map(({ name, required, description }) => ({
    label: name,
    detail: required ? `${description}; required` : description,
    kind: 'property',
    insert: CONTAINERS.includes(name) || name === 'tools' || name === 'agents' ? `${name}:` : `${name}: `,
  }));

const signatureOf = ({ signatures }: Language['functions'][number]): string => {
  const [first] = signatures;
  if (first === undefined) return '';
  const call = `(${first.arguments.join(', ')})`;
  return `${first.target === null ? '' : `${first.target}.`}${call} gives ${first.result}`;
};

/** The choices within a condition: paths of facts, macros and functions. */
const conditionChoices = (language: Language): readonly Choice[] => [
  ...language.facts.map(({ path, type, presence, description }): Choice => ({
    label: path,
    detail: `${type}${presence === 'optional' ? ', not in every call' : ''}: ${description}`,
    kind: 'variable',
  })),
  ...language.macros.map(({ name, example }): Choice => ({ label: name, detail: example, kind: 'keyword' })),
  ...language.functions.map((each): Choice => ({ label: each.name, detail: signatureOf(each), kind: 'function' })),
];

/** The functions that can be called on a value after a dot, for a value that is not a fact. */
const methodChoices = (language: Language): readonly Choice[] =>
  language.functions
    .filter(({ signatures }) => signatures.some(({ target }) => target !== null))
    .map((each): Choice => ({ label: each.name, detail: signatureOf(each), kind: 'function' }));

const completedCondition = (language: Language, typed: string, at: number): Completed | null => {
  const word = /[A-Za-z_][\w.]*$/.exec(typed)?.[0] ?? '';
  const owner = word.slice(0, word.lastIndexOf('.') + 1);
  const isFact = language.facts.some(({ path }) => owner !== '' && path.startsWith(owner));
  if (owner === '' || isFact) return { from: at - word.length, options: conditionChoices(language) };
  return { from: at - (word.length - owner.length), options: methodChoices(language) };
};

/** Whether a line belongs to the block under `when: |`. */
const isInCondition = (above: readonly Line[]): boolean => above[0]?.key === 'when' && /^[|>]/.test(above[0].value);

/** A line that ends in a partly typed tool name: an item of a block list or of a bracketed one, quoted or not. */
const TOOL_BEGUN = /^(?:\s*- +|\s*(?:- +)*tools:\s+\[(?:.*,)?\s*)["']?([^\s,"'[\]]*)$/;

/** The partly typed tool name at the end of a line; null if the line is not under `tools` of a match. */
const begunTool = (last: string, above: readonly Line[]): string | null => {
  const [own, match] = lineOf(last)?.key === 'tools' ? [lineOf(last), above[0]] : above;
  return own?.key === 'tools' && match?.key === 'match' ? (TOOL_BEGUN.exec(last)?.[1] ?? null) : null;
};

/**
 * The completions at the end of a text: words of the language, and tools of the organization under `tools` of a match.
 * @param before the source up to the cursor
 * @returns null if there is nothing to offer, as in a comment, a description or a name
 */
export const completionsAt = (
  before: string,
  language: Language,
  tools: readonly CatalogueTool[] = [],
): Completed | null => {
  const lines = before.split('\n');
  const last = lines.pop() ?? '';
  if (/^\s*#/.test(last)) return null;
  const indent = (/^\s*(?:- +)*/.exec(last)?.[0] ?? '').length;
  const above = keysAbove(lines, indent);
  if (isInCondition(above)) return completedCondition(language, last, before.length);
  const tool = begunTool(last, above);
  if (tool !== null)
    return tools.length === 0 ? null : { from: before.length - tool.length, options: toolChoices(tools) };
  const here = lineOf(last);
  const fields = fieldsUnder(language, above[0]?.key);
  if (here === null) return completedKey(last, { fields, above, language, at: before.length });
  if (here.key === 'when') return completedCondition(language, here.value, before.length);
  const values = fields.find(({ name }) => name === here.key)?.values ?? null;
  if (values === null || !/^\S*$/.test(here.value)) return null;
  return { from: before.length - here.value.length, options: valueChoices(values) };
};

const valueChoices = (values: readonly (string | number)[]): readonly Choice[] =>
  values.map((value) => ({ label: String(value), detail: '', kind: 'enum' }));

const completedKey = (
  last: string,
  context: {
    readonly fields: Language['rule'];
    readonly above: readonly Line[];
    readonly language: Language;
    readonly at: number;
  },
): Completed | null => {
  const { fields, above, language, at } = context;
  const [, , word] = /^(\s*(?:- +)*)([a-z_]*)$/.exec(last) ?? [];
  if (word === undefined) return null;
  // An item of a list of values, such as `- gateway` under `mode:`.
  const parent = above[0];
  const outer = fieldsUnder(language, above[1]?.key);
  const values = parent === undefined ? null : (outer.find(({ name }) => name === parent.key)?.values ?? null);
  if (values !== null && /^\s*- +/.test(last)) return { from: at - word.length, options: valueChoices(values) };
  return fields.length === 0 ? null : { from: at - word.length, options: keyChoices(fields) };
};
