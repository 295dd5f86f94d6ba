import type { Config } from './config.schema.js';

/** Addresses that a server listens on and nobody calls. */
const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** {base_url}: where clients reach the service, as far as its settings and the port it got can tell. */
export const baseUrlOf = ({ baseUrl, host }: Pick<Config, 'baseUrl' | 'host'>, port: number): string => {
  if (baseUrl !== null) return baseUrl;
  const name = EVERY_ADDRESS.includes(host) ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
};

/** A link to sign in with. The token stands in the fragment, which browsers send to no server and in no Referer. */
export const signInLink = (baseUrl: string, token: string): string => `${baseUrl}/auth/confirm#token=${token}`;

const PAGES = { passkeys: '/app/settings/sessions', login: '/login' } as const;

/** Where a mail without a link of its own leads. */
export const pageLink = (baseUrl: string, page: keyof typeof PAGES): string => `${baseUrl}${PAGES[page]}`;

/** A link to look at an approval and to decide it; its token as in {@link signInLink}. */
export const approvalLink = (baseUrl: string, token: string): string => `${baseUrl}/auth/approve#token=${token}`;
