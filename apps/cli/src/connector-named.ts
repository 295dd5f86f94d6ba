import { parseId } from '#libs/domain/kernel';
import { CliError, EXIT, usage } from './cli-error.js';
import type { ServiceAnswer } from './service-call.js';

/** @throws {CliError} usage, for what names no connector: it would be another path */
export const requireConnector = async (text: string): Promise<void> => {
  // Loaded here alone: every other command would begin later for it.
  const { isConnectorName } = await import('#libs/domain/connectors');
  if (isConnectorName(text) || parseId('con', text) !== null) return;
  throw usage(
    `The name of a connector is expected, such as crm, or its con_ id, copied whole; not ${JSON.stringify(text)}.`,
  );
};

/** @throws {CliError} not_found, usage */
export const foundConnector = (connector: string, answer: ServiceAnswer): Readonly<Record<string, unknown>> => {
  if (answer.isOk) return answer.body;
  const { code, message } = answer.error;
  if (code !== 'not_found') throw new CliError('usage', message);
  throw new CliError(code, `The organization of this key has no connector ${connector}.`, EXIT.refused);
};
