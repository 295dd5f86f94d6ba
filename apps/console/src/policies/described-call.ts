import type { Schemas } from '../kernel/client.ts';

/** A call as typed into the form. Empty fields are left out of the call. */
export interface Described {
  readonly tool: string;
  readonly args: string;
  readonly agent: string;
  readonly onBehalfOf: string;
  readonly mode: Schemas['CallMode'];
}

type Read = { readonly input: Schemas['TrialInput'] } | { readonly problem: string };

export const readDescribed = ({ tool, args, agent, onBehalfOf, mode }: Described): Read => {
  const parsed = parse(args.trim() === '' ? '{}' : args);
  if ('problem' in parsed) return parsed;
  return {
    input: {
      tool: tool.trim(),
      args: parsed.args,
      mode,
      ...(agent.trim() === '' ? {} : { agent: { name: agent.trim() } }),
      ...(onBehalfOf.trim() === '' ? {} : { user: { ref: onBehalfOf.trim() } }),
    },
  };
};

const parse = (text: string): { readonly args: Record<string, never> } | { readonly problem: string } => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { args: value as Record<string, never> };
    return { problem: 'Arguments must be a JSON object, such as {"id": "42"}.' };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: `This is not JSON. ${error.message}` };
  }
};
