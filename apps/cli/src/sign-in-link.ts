import { signInLink } from '#libs/infra/config';
import type { Deployment } from '#libs/infra/deployment';
import type { Terminal } from './terminal.js';

/** The link for a token, as far as the settings can tell: a service that took any free port knows it alone. */
export const shownSignInLink = ({ config, baseUrl }: Deployment, terminal: Terminal, token: string): string => {
  if (config.baseUrl === null && config.port === 0) {
    terminal.err('SERVICE_PORT is 0: put the port that the service printed at its start into the link.\n');
  }
  return signInLink(baseUrl, token);
};
