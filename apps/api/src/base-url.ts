import type { Config } from '#libs/infra/config';

/** Addresses that a server listens on and nobody calls. */
const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** {base_url}: where clients reach the service, as far as its settings and the port it got can tell. */
export const baseUrlOf = ({ baseUrl, host }: Pick<Config, 'baseUrl' | 'host'>, port: number): string => {
  if (baseUrl !== null) return baseUrl;
  const name = EVERY_ADDRESS.includes(host) ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
};
