import type { OpenedSecret } from '#libs/domain/connectors';
import type { RestConfig } from '#libs/domain/connectors/rest';

import { type AppliedCredential, NO_CREDENTIAL } from '../applied-credential.js';

/** Strings cannot be zeroed, so they are made as late as possible and kept by nobody: the secret's own bytes are destroyed. */
export const applyCredential = (config: RestConfig, secret: OpenedSecret): AppliedCredential => {
  const { auth } = config;
  const field = (name: string): string => Buffer.from(secret.fields.get(name) ?? []).toString();
  switch (auth.kind) {
    case 'bearer': {
      const token = field('token');
      return { headers: [['Authorization', `Bearer ${token}`]], query: null, secrets: [token] };
    }
    case 'header': {
      const value = field('value');
      return { headers: [[auth.header ?? 'X-API-Key', value]], query: null, secrets: [value] };
    }
    case 'basic': {
      const [username, password] = [field('username'), field('password')];
      const pair = Buffer.from(`${username}:${password}`).toString('base64');
      return { headers: [['Authorization', `Basic ${pair}`]], query: null, secrets: [pair, username, password] };
    }
    case 'query': {
      const value = field('value');
      return { headers: [], query: [auth.param ?? 'api_key', encodeURIComponent(value)], secrets: [value] };
    }
    case 'none':
      return NO_CREDENTIAL;
  }
};
