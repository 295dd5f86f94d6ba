import type { Schemas } from '../kernel/client.ts';
import type { Evidence } from '../kit/badges.tsx';

/** What a deed is about, in a line. */
export const about = (
  said: Schemas['Deed']['about'],
): { readonly what: string; readonly detail: string; readonly witness: Evidence | null } => {
  if (said === null) return { what: 'being read', detail: '', witness: null };
  if ('admin' in said) return { what: said.admin, detail: `${said.target.type} ${said.target.id}`, witness: null };
  const { tool, agent, outcome, level, verdict } = said;
  const by = agent === null ? '' : (agent.name ?? agent.id);
  return {
    what: tool,
    detail: [outcome, by === '' ? '' : `by ${by}`].filter((word) => word !== null && word !== '').join(' '),
    witness: level === null || verdict === null ? null : { level, verdict },
  };
};
