/** Judges where connectors may reach. Adapter: the egress door of libs/infra/src/egress, which judges every dial again. */
export abstract class EgressPolicy {
  /**
   * Resolves and classifies the destination without sending it anything. A name that does not resolve passes: it may
   * exist later, and every dial is judged anew.
   * @throws {DomainError} destination_blocked, with one message for all reasons
   */
  abstract check(url: string): Promise<void>;
}
