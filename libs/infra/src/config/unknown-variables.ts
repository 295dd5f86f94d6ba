import { closestName } from '#libs/domain/kernel';

/** A variable that is named as settings are, and that no setting reads. */
export interface UnknownVariable {
  readonly variable: string;
  /** The setting that was probably meant; null when the name is close to none and may be somebody else's. */
  readonly meant: string | null;
}

const PREFIX = 'SERVICE_';

/**
 * Kubernetes gives a pod such variables for every Service of its namespace, and those of a Service whose name begins with
 * `service` begin as ours do (SERVICE_SERVICE_HOST, SERVICE_PORT_8080_TCP_ADDR); container links are written alike.
 */
const INJECTED_NAMES = [/_SERVICE_(?:HOST|PORT(?:_\w+)?)$/, /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/];

/** And `<name>_PORT`, which only its value tells from a setting. */
const INJECTED_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** Whether it is the address of a Kubernetes Service, not something that a person has written. */
export const isInjectedAddress = (variable: string, text: string): boolean =>
  variable.endsWith('_PORT') && INJECTED_ADDRESS.test(text);

/** In alphabetic order. Empty ones are left out: that is how shells and compose files leave a variable unset. */
export const unknownVariables = (
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): readonly UnknownVariable[] =>
  Object.entries(environment)
    .filter(([variable, text]) => variable.startsWith(PREFIX) && text !== undefined && text !== '')
    .filter(([variable, text = '']) => !known.includes(variable) && !isInjected(variable, text))
    .map(([variable]) => ({ variable, meant: meantBy(variable, known) }))
    .sort((one, other) => (one.variable < other.variable ? -1 : 1));

const isInjected = (variable: string, text: string): boolean =>
  INJECTED_NAMES.some((pattern) => pattern.test(variable)) || isInjectedAddress(variable, text);

/** Without their prefix, so that SERVICE_LOG_LEVEL is seen to mean LOG_LEVEL. */
const meantBy = (variable: string, known: readonly string[]): string | null => {
  const name = variable.slice(PREFIX.length);
  const names = new Map(known.map((setting) => [setting.replace(PREFIX, ''), setting]));
  const closest = closestName(name, names.keys());
  return closest === null ? null : (names.get(closest) ?? null);
};
