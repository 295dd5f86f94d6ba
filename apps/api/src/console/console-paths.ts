import { isId } from '#libs/crypto';

/** Each screen that there is, and how the ids of its details begin; null where it has none (rule CONSOLE-1). */
const SCREENS: Readonly<Record<string, string | null>> = {
  actions: 'act',
  approvals: 'apr',
  agents: 'agt',
  policies: 'pol',
  connectors: 'con',
  insights: null,
  deeds: 'deed',
  settings: 'whk',
  // The kit of components, for who develops it. Its handler knows whether this is such a deployment.
  _kit: null,
};

/** Parts of a screen that have an address of their own, beside the ids of its details. */
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  settings: ['organization', 'members', 'admin-keys', 'webhooks', 'witnesses', 'sessions', 'security', 'about'],
};

/** Errors below it are pages. */
export const isConsolePath = (path: string): boolean => path === '/app' || path.startsWith('/app/');

/** Whether a path that the patterns `/app/:screen` and `/app/:screen/:id` match is a page: judged before anybody asks who is calling. */
export const isConsolePage = ({ screen, id }: Readonly<Record<string, string>>): boolean => {
  if (screen === undefined || !Object.hasOwn(SCREENS, screen)) return false;
  if (id === undefined || SECTIONS[screen]?.includes(id) === true) return true;
  const prefix = SCREENS[screen];
  return typeof prefix === 'string' && isId(prefix, id);
};
