import { Injectable } from '@nestjs/common';
import { Authenticate } from '#libs/domain/agents';
import { Authenticator, type AuthenticationDemands, type Principal } from '../http/authenticator.port.js';

/** The edge's port over the agents context. No organization pins a version yet: only one is served. */
@Injectable()
export class KeyAuthenticator extends Authenticator {
  constructor(private readonly keys: Authenticate) {
    super();
  }

  override async authenticate(key: string, demands: AuthenticationDemands): Promise<Principal> {
    const caller = await this.keys.byKey(key, demands);
    return { pinnedVersion: null, ...caller };
  }
}
