/** JSON in ASCII without apostrophes, so that a shell expands nothing in it if it stands between single quotes. */
const quotable = (value: unknown): string =>
  JSON.stringify(value).replace(
    /['\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** A curl command that makes an agent's call. The key is a shell variable, because no page shows a key. */
export const curlOf = (origin: string, { tool, args, mode }: { tool: string; args: object; mode: string }): string => {
  const body = { tool, args, ...(mode === 'gateway' ? {} : { mode }) };
  return [
    `curl -sS '${origin}/v1/actions' -H "Authorization: Bearer $AGENT_KEY"`,
    `  -H 'Content-Type: application/json' -d '${quotable(body)}'`,
  ].join(' \\\n');
};
