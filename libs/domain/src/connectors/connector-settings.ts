/** Given once, at composition. */
export class ConnectorSettings {
  /** Production allows https alone and reserves the name `fake`. */
  constructor(readonly isProduction: boolean) {}
}
