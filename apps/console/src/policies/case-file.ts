import type { Schemas } from '../kernel/client.ts';

type Tool = Pick<Schemas['Tool'], 'name' | 'side_effect'>;

/** A file to begin with: a read of a tool that there is here; where there is none, a call that says of itself that it reads. */
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
 * The tool that a case names, where what it does is left to the tool: null where the case says it itself, or where the text
 * is written in another way than most write it.
 * @param line where the case begins, the first is 1
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
