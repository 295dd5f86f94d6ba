import type { Schemas } from '../kernel/client.ts';

type Tool = Pick<Schemas['Tool'], 'name' | 'side_effect'>;

/**
 * A case file to begin with: a call of a read tool of this organization; without one, of an invented tool that the case
 * itself declares as a read.
 */
export const exampleCases = (tools: readonly Tool[]): string => {
  const tool = tools.find(({ side_effect: effect }) => effect === 'read');
  return `- name: reads go through
  input:
    tool: ${tool?.name ?? 'crm.get_customer'}
${tool === undefined ? '    side_effect: read\n' : ''}  expect:
    decision: allow
`;
};

/**
 * The tool that a case names, if the case does not declare the side effect itself. Null if it does, or if the text is
 * laid out in an unusual way.
 * @param line the line on which the case begins, counted from 1
 */
export const toolLeftOpen = (text: string, line: number): string | null => {
  const [first = '', ...rest] = text.split('\n').slice(line - 1);
  const end = rest.findIndex((each) => /^\s*- name:/.test(each) && indentOf(each) <= indentOf(first));
  const own = [first, ...(end === -1 ? rest : rest.slice(0, end))];
  if (own.some((each) => /^\s*side_effect:/.test(each))) return null;
  const named = own.flatMap((each) => /^\s*(?:- )?tool:\s*["']?([\w.-]+)["']?\s*(?:#.*)?$/.exec(each)?.[1] ?? []);
  return named[0] ?? null;
};

const indentOf = (line: string): number => line.length - line.trimStart().length;
