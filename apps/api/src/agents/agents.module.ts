import { Global, Module } from '@nestjs/common';
import { Authenticator } from '../http/authenticator.port.js';
import { KeyAuthenticator } from './key-authenticator.js';

@Global()
@Module({
  providers: [{ provide: Authenticator, useClass: KeyAuthenticator }],
  exports: [Authenticator],
})
export class AgentsModule {}
