import type { ConfigReader } from './config-reader.js';

/** What tools of native types are named (rule CON-2). */
const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;
const ONE_LINE = /^(?!\s)[^\p{C}\p{Zl}\p{Zp}]+(?<!\s)$/u;

/** The name of a tool that a config describes. */
export const readToolName = (tool: ConfigReader): string | undefined => {
  const name = tool.text('name', { maxCharacters: 64, isRequired: true });
  if (name === undefined || TOOL_NAME.test(name)) return name;
  return tool.report('name', 'must have 1 to 64 lower-case letters, digits or underscores, a letter first.');
};

/** Goes on after `wants to`, wherever people read what an agent asks for. */
export const readToolTitle = (tool: ConfigReader, maxCharacters: number): string | undefined => {
  const title = tool.text('title', { maxCharacters });
  if (title === undefined) return undefined;
  if (!ONE_LINE.test(title)) return tool.report('title', 'must be one line of text, without spaces at its ends.');
  if (/^to\s/iu.test(title) || /^\p{Lu}\p{Ll}/u.test(title) || title.endsWith('.')) {
    return tool.report(
      'title',
      'must go on after "wants to", such as refund a customer: a verb first, in lower case, without to before it and without a full stop.',
    );
  }
  return title;
};

/** Only what was given is stored. */
export const withoutAbsent = <Members extends object>(
  members: Members,
): { [Key in keyof Members]?: Exclude<Members[Key], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Members]?: Exclude<Members[Key], undefined>;
  };
