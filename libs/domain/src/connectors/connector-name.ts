import { DomainError } from '../kernel/index.js';

const NAME_PATTERN = /^[a-z][a-z0-9-]{1,31}$/;
/** These names mean the service itself in tool names and routes (rule CON-1). */
const RESERVED_NAMES = new Set(['service', 'mcp', 'native']);
/** Belongs to the connector type of that name, which only a development service has. */
const RESERVED_OUTSIDE_DEV = 'fake';

/** Whether a connector may have the name at all. No id looks like one. */
export const isConnectorName = (text: string): boolean => NAME_PATTERN.test(text);

/** @throws {DomainError} validation_failed, param `name` */
export const requireConnectorName = (name: string, settings: { readonly isProduction: boolean }): void => {
  if (!isConnectorName(name)) {
    throw new DomainError('validation_failed', {
      param: 'name',
      message:
        "A connector's name must have 2 to 32 characters: lower-case letters, digits and hyphens, a letter first.",
    });
  }
  if (RESERVED_NAMES.has(name) || (settings.isProduction && name === RESERVED_OUTSIDE_DEV)) {
    throw new DomainError('validation_failed', {
      param: 'name',
      message: `The name ${name} is reserved. Choose another one.`,
    });
  }
};
