/** JSON in ASCII without an apostrophe: between single quotes no shell reads anything into it. */
const quotable = (value: unknown): string =>
  JSON.stringify(value).replace(
    /['\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The call that an agent made, to paste into a shell. The key stays a variable: no page ever shows one. */
export const curlOf = (origin: string, { tool, args, mode }: { tool: string; args: object; mode: string }): string => {
  const body = { tool, args, ...(mode === 'gateway' ? {} : { mode }) };
  return [
    `curl -sS '${origin}/v1/actions' -H "Authorization: Bearer $AGENT_KEY"`,
    `  -H 'Content-Type: application/json' -d '${quotable(body)}'`,
  ].join(' \\\n');
};
