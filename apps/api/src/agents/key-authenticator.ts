import { Injectable } from '@nestjs/common';
import { Authenticate } from '#libs/domain/agents';
import { Authenticator, type AuthenticationDemands, type Principal } from '../http/authenticator.port.js';

/** The edge's port over the agents context. */
@Injectable()
export class KeyAuthenticator extends Authenticator {
  constructor(private readonly keys: Authenticate) {
    super();
  }

  override authenticate(key: string, demands: AuthenticationDemands): Promise<Principal> {
    return this.keys.byKey(key, demands);
  }
}
