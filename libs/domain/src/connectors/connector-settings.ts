import type { ConnectorTypeSettings } from './connector-type.js';

/** Given once, at composition. */
export class ConnectorSettings implements ConnectorTypeSettings {
  constructor(
    /** Production allows https alone and reserves the name `fake`. */
    readonly isProduction: boolean,
    readonly faultOf: NonNullable<ConnectorTypeSettings['faultOf']> = () => null,
  ) {}
}
